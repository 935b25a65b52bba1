//! Boundaries of cities and provinces: by name, by point and by box.

use serde_json::{Value, json};

use crate::answer::{Answer, Answered, Refusal};
use crate::places::{self, Area, Place, PlaceKind};
use crate::request::Call;
use crate::request::Request;
use crate::state::App;

pub fn by_name(_: &App, call: &Call) -> Answered {
    let kind = kind(call.request)?;
    let name = call.request.query("q").map(str::trim).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Refusal::invalid("`q` is missing: the name of a city or province"))?;
    Ok(features(&places::named(name, kind)))
}

/// Finds places by a point, as latitude and longitude, or by two corners of a box.
pub fn by_place(_: &App, call: &Call) -> Answered {
    let kind = kind(call.request)?;
    let numbers: Option<Vec<f64>> =
        call.request.param(0).split(',').map(|text| text.trim().parse::<f64>().ok()).collect();
    let found = match numbers.as_deref() {
        Some(&[latitude, longitude]) => {
            on_earth(latitude, longitude)?;
            places::containing(latitude, longitude, kind)
        }
        Some(&[latitude, longitude, other_latitude, other_longitude]) => {
            on_earth(latitude, longitude)?;
            on_earth(other_latitude, other_longitude)?;
            places::touching(&Area::of_corners([latitude, longitude], [other_latitude, other_longitude]), kind)
        }
        _ => {
            let wanted = "a place is `latitude,longitude`, or two of these for the corners of a box";
            return Err(Refusal::invalid(wanted));
        }
    };
    Ok(features(&found))
}

fn kind(request: &Request) -> Result<Option<PlaceKind>, Refusal> {
    let Some(word) = request.query("type") else { return Ok(None) };
    match PlaceKind::parse(word) {
        Some(kind) => Ok(Some(kind)),
        None => Err(Refusal::invalid("`type` is `city` or `province`")),
    }
}

fn on_earth(latitude: f64, longitude: f64) -> Result<(), Refusal> {
    if !(-90.0..=90.0).contains(&latitude) {
        return Err(Refusal::invalid("the latitude comes first and is between -90 and 90"));
    }
    if !(-180.0..=180.0).contains(&longitude) {
        return Err(Refusal::invalid("the longitude comes second and is between -180 and 180"));
    }
    Ok(())
}

fn features(found: &[&Place]) -> Answer {
    let features: Vec<Value> = found.iter().map(|place| feature(place)).collect();
    Answer::bare(200, json!({ "features": features }))
}

fn feature(place: &Place) -> Value {
    let mut context = json!({ "country": place.country });
    if !place.state.is_empty() {
        context["state"] = place.state.into();
    }
    let Area { south, west, north, east } = place.bounds;
    json!({
        "id": place.id(),
        "type": "Feature",
        "bounds": [south, west, north, east],
        "centroid": place.centroid,
        "properties": {
            "name": place.name,
            "boundary_type": place.kind.word(),
            "boundary_type_string": place.kind.title(),
            "context": context,
            "source": "built-in",
        },
    })
}
