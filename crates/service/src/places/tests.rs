use std::collections::BTreeSet;

use super::*;

fn full_name(place: &Place) -> String {
    [place.kind.word(), place.name, place.state, place.country].join(" ")
}

fn names(found: &[&Place]) -> Vec<&'static str> {
    found.iter().map(|place| place.name).collect()
}

#[test]
fn the_table_is_large_enough_and_has_every_state() {
    let count = |kind, country: &str| {
        all().filter(|place| place.kind == kind && (country.is_empty() || place.country == country)).count()
    };
    assert!(count(PlaceKind::City, "") >= 120);
    assert!(count(PlaceKind::Province, "") >= 80);
    // The fifty states and the capital's district.
    assert_eq!(count(PlaceKind::Province, "US"), 51);
    assert_eq!(count(PlaceKind::Province, "CA"), 13);
    assert_eq!(count(PlaceKind::Province, "DE"), 16);
    assert_eq!(count(PlaceKind::Province, "AU"), 8);
}

#[test]
fn every_boundary_is_a_box_on_earth_around_its_middle() {
    for place in all() {
        let (name, area) = (full_name(place), &place.bounds);
        assert!(area.south < area.north && area.west < area.east, "{name}");
        assert!(area.south >= -90.0 && area.north <= 90.0 && area.west >= -180.0 && area.east <= 180.0, "{name}");
        assert!(area.contains(place.centroid[0], place.centroid[1]), "{name}");
        if place.kind == PlaceKind::City {
            assert!(area.north - area.south < 2.0 && area.east - area.west < 2.0, "{name} is too large for a city");
        }
    }
}

#[test]
fn a_city_lies_in_its_state() {
    let mut checked = 0;
    for place in all().filter(|place| place.kind == PlaceKind::City) {
        let is_its = |state: &&Place| {
            state.kind == PlaceKind::Province && state.name == place.state && state.country == place.country
        };
        if let Some(state) = all().find(is_its) {
            assert!(state.bounds.contains(place.centroid[0], place.centroid[1]), "{}", full_name(place));
            checked += 1;
        } else {
            // Countries with all of their states in the table must not have a city without one.
            assert!(!["US", "CA", "DE", "AU"].contains(&place.country), "{} has no state", full_name(place));
        }
    }
    assert!(checked > 120, "{checked}");
}

#[test]
fn every_place_has_an_id_of_its_own_and_is_found_by_it() {
    let mut ids = BTreeSet::new();
    for place in all() {
        let id = place.id();
        assert_eq!(id.len(), 22, "{}", full_name(place));
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{id}");
        assert_eq!(by_id(&id).map(full_name), Some(full_name(place)));
        assert!(ids.insert(id), "{} shares its id", full_name(place));
    }
    assert!(by_id("nowhere").is_none());
}

#[test]
fn ids_never_change() {
    // Segments store these ids: if they were derived in another way, stored segments would lose their places.
    let id = |name: &str, kind| named(name, Some(kind))[0].id();
    assert_eq!(id("San Francisco", PlaceKind::City), "YJlvnBdW7Y7kEoLOmYlGdQ");
    assert_eq!(id("California", PlaceKind::Province), "Gz6Ql0YBGQ4ITIO1HJF51g");
}

#[test]
fn two_cities_are_called_portland() {
    let found = named("portland", None);
    assert_eq!(names(&found), ["Portland", "Portland"]);
    assert_eq!(found.iter().map(|place| place.state).collect::<Vec<_>>(), ["Maine", "Oregon"]);
}

#[test]
fn a_name_comes_before_its_beginning_and_that_before_its_middle() {
    assert_eq!(names(&named("York", None)), ["New York", "New York"]);
    let found = names(&named("WASHINGTON", None));
    assert_eq!(found, ["Washington", "Washington"]);
    let found = names(&named("quebec", None));
    assert_eq!(found, ["Quebec", "Quebec City"]);
    let found = names(&named("virginia", None));
    assert_eq!(found, ["Virginia", "West Virginia"]);
}

#[test]
fn accents_do_not_count() {
    for name in ["sao paulo", "São Paulo", "SÃO PAULO"] {
        assert_eq!(names(&named(name, Some(PlaceKind::City))), ["São Paulo"], "{name}");
    }
    // Every name can be found without accents.
    for place in all() {
        assert!(plain(place.name).is_ascii(), "{} has a letter that cannot be typed", full_name(place));
    }
}

#[test]
fn a_point_lies_in_its_city_and_then_in_its_state() {
    assert_eq!(names(&containing(37.7749, -122.4194, None)), ["San Francisco", "California"]);
    assert_eq!(names(&containing(37.7749, -122.4194, Some(PlaceKind::Province))), ["California"]);
}

#[test]
fn latitude_and_longitude_are_not_the_same() {
    assert!(names(&containing(52.52, 13.405, None)).starts_with(&["Berlin"]));
    assert!(containing(13.405, 52.52, None).is_empty());
}

#[test]
fn a_box_touches_whatever_it_shares_a_point_with() {
    let bay = Area::of_corners([37.9, -122.0], [37.6, -122.6]);
    assert_eq!(bay, Area::of_corners([37.6, -122.6], [37.9, -122.0]));
    assert_eq!(names(&touching(&bay, Some(PlaceKind::City))), ["San Francisco", "Oakland"]);
    let edge = all().find(|place| place.name == "San Francisco").expect("a city").bounds;
    let beside = Area { south: edge.north, north: edge.north + 0.01, west: edge.west - 1.0, east: edge.west };
    assert!(names(&touching(&beside, Some(PlaceKind::City))).contains(&"San Francisco"));
    assert!(touching(&Area { south: -60.0, north: -50.0, west: -30.0, east: -20.0 }, None).is_empty());
}
