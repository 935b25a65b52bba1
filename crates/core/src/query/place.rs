//! Boundaries of places, by name, by point and by box.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use pushplan_model::exchange::{BadAnswer, part};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::text;

/// A query for places.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceQuery {
    Named(String),
    /// Latitude and longitude.
    Point([f64; 2]),
    /// South, west, north and east.
    Within([f64; 4]),
}

/// A place with a boundary.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GeoPlace {
    /// The id, for `location: {id: …}` in a manifest.
    pub id: String,
    pub name: String,
    /// Such as `city` or `province`.
    pub r#type: String,
    /// The places that contain it, such as `{"country": "US", "state": "Oregon"}`.
    pub context: BTreeMap<String, String>,
    /// South, west, north and east.
    pub bounds: Vec<f64>,
    /// Latitude and longitude.
    pub centroid: Vec<f64>,
}

impl PlaceQuery {
    /// The path of the request, for places of one type or of any.
    pub fn path(&self, kind: Option<&str>) -> String {
        let numbers = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let kind = kind.map(|kind| format!("type={}", part(kind)));
        match self {
            Self::Named(name) => {
                let kind = kind.map(|kind| format!("&{kind}")).unwrap_or_default();
                format!("/api/location/?q={}{kind}", part(name))
            }
            Self::Point(place) => with_query(format!("/api/location/{}", numbers(place)), kind),
            Self::Within(corners) => with_query(format!("/api/location/{}", numbers(corners)), kind),
        }
    }
}

fn with_query(path: String, query: Option<String>) -> String {
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

/// Parses a point: latitude, longitude.
pub fn point(written: &str) -> anyhow::Result<[f64; 2]> {
    let [latitude, longitude] = numbers::<2>(written).context("write LATITUDE,LONGITUDE, such as 52.52,13.405")?;
    on_earth(latitude, longitude)?;
    Ok([latitude, longitude])
}

/// Parses a box: south, west, north, east.
pub fn corners(written: &str) -> anyhow::Result<[f64; 4]> {
    let all = numbers::<4>(written).context("write SOUTH,WEST,NORTH,EAST, such as 37.6,-122.6,37.9,-122.0")?;
    let [south, west, north, east] = all;
    on_earth(south, west)?;
    on_earth(north, east)?;
    if south > north {
        bail!("the south edge of the box, {south}, is north of its north edge, {north}");
    }
    Ok(all)
}

fn numbers<const N: usize>(written: &str) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> = written.split(',').map(|part| part.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

fn on_earth(latitude: f64, longitude: f64) -> anyhow::Result<()> {
    if !(-90.0..=90.0).contains(&latitude) {
        bail!("{latitude} is not a latitude: the latitude comes first and is between -90 and 90");
    }
    if !(-180.0..=180.0).contains(&longitude) {
        bail!("{longitude} is not a longitude: the longitude comes second and is between -180 and 180");
    }
    Ok(())
}

/// The places in an answer. Those without an id are skipped, because a manifest cannot name them.
pub fn places(body: &Value) -> Result<Vec<GeoPlace>, BadAnswer> {
    let features = body["features"].as_array().ok_or("the answer has no list of places")?;
    Ok(features.iter().filter_map(place).collect())
}

fn place(feature: &Value) -> Option<GeoPlace> {
    let properties = &feature["properties"];
    let numbers = |value: &Value| value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let said = |value: &Value| match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        other => Some(other.to_string()),
    };
    let context = properties["context"].as_object().into_iter().flatten();
    Some(GeoPlace {
        id: text(&feature["id"])?,
        name: text(&properties["name"]).unwrap_or_default(),
        r#type: text(&properties["boundary_type"]).or(text(&properties["boundary_type_string"])).unwrap_or_default(),
        context: context.filter_map(|(key, value)| Some((key.clone(), said(value)?))).collect(),
        bounds: numbers(&feature["bounds"]),
        centroid: numbers(&feature["centroid"]),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_way_to_ask_has_its_path() {
        let named = PlaceQuery::Named("São Paulo & more".to_owned());
        assert_eq!(named.path(None), "/api/location/?q=S%C3%A3o%20Paulo%20%26%20more");
        assert_eq!(named.path(Some("city")), "/api/location/?q=S%C3%A3o%20Paulo%20%26%20more&type=city");
        assert_eq!(PlaceQuery::Point([-33.87, 151.2]).path(Some("city")), "/api/location/-33.87,151.2?type=city");
        assert_eq!(PlaceQuery::Within([1.0, 2.0, 3.5, 4.0]).path(None), "/api/location/1,2,3.5,4");
    }

    #[test]
    fn a_point_that_is_none_is_told() {
        assert_eq!(point("52.52, 13.405").expect("a point"), [52.52, 13.405]);
        for (written, says) in [
            ("52.52", "LATITUDE,LONGITUDE"),
            ("north,west", "LATITUDE,LONGITUDE"),
            ("", "LATITUDE,LONGITUDE"),
            ("1,2,3", "LATITUDE,LONGITUDE"),
            ("-122.4,37.7", "not a latitude"),
            ("37.7,200", "not a longitude"),
            ("NaN,0", "not a latitude"),
            ("0,inf", "not a longitude"),
        ] {
            let why = point(written).expect_err(written).to_string();
            assert!(why.contains(says), "{written}: {why}");
        }
        assert!(corners("37.9,-122.6,37.6,-122.0").expect_err("upside down").to_string().contains("is north of"));
        assert!(corners("37.6,-122.6,37.9").expect_err("three").to_string().contains("SOUTH,WEST"));
    }

    #[test]
    fn a_place_is_read_whatever_it_leaves_out() {
        let body = json!({"features": [
            {"id": "a", "bounds": [1, 2, 3, 4], "centroid": [1.5, 2.5], "properties": {
                "name": "Portland", "boundary_type": "city", "context": {"state": "Oregon", "rank": 3, "none": null}}},
            {"id": "b"},
            {"properties": {"name": "no id"}},
            7,
        ]});
        let found = places(&body).expect("places");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].context, BTreeMap::from([("rank".into(), "3".into()), ("state".into(), "Oregon".into())]));
        assert_eq!(found[0].bounds, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!((found[1].id.as_str(), found[1].name.as_str()), ("b", ""));
        assert!(places(&json!({"features": {}})).is_err());
        assert!(places(&json!(null)).is_err());
    }
}
