//! Cities and provinces of the world, with their boundaries.
//!
//! A boundary is the box around a place. Near a border, a point may be in the boxes of two neighbours.

mod americas;
mod asia_pacific;
mod europe;
mod states;
mod states_europe;
mod states_world;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// The type of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceKind {
    City,
    /// A state, a province or another part of a country.
    Province,
}

impl PlaceKind {
    pub fn parse(word: &str) -> Option<Self> {
        [Self::City, Self::Province].into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::City => "city",
            Self::Province => "province",
        }
    }

    /// The title for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::City => "City/Place",
            Self::Province => "State/Province",
        }
    }
}

/// A box in degrees. None crosses the antimeridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub south: f64,
    pub west: f64,
    pub north: f64,
    pub east: f64,
}

impl Area {
    /// Returns the box of two opposite corners, each as latitude and longitude.
    pub(crate) fn of_corners(one: [f64; 2], other: [f64; 2]) -> Self {
        Self {
            south: one[0].min(other[0]),
            west: one[1].min(other[1]),
            north: one[0].max(other[0]),
            east: one[1].max(other[1]),
        }
    }

    pub fn contains(&self, latitude: f64, longitude: f64) -> bool {
        (self.south..=self.north).contains(&latitude) && (self.west..=self.east).contains(&longitude)
    }

    pub fn touches(&self, other: &Self) -> bool {
        let apart = self.south > other.north || other.south > self.north;
        !apart && self.west <= other.east && other.west <= self.east
    }

    /// Returns the size of its area, to compare it with others.
    fn size(&self) -> f64 {
        let height = self.north.to_radians().sin() - self.south.to_radians().sin();
        height * (self.east - self.west)
    }
}

/// One place of the table.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub name: &'static str,
    pub kind: PlaceKind,
    /// The state or province of a city, if it has one; empty for a province.
    pub state: &'static str,
    /// ISO 3166-1 alpha-2.
    pub country: &'static str,
    pub bounds: Area,
    /// Latitude and longitude.
    pub centroid: [f64; 2],
}

impl Place {
    /// Returns its id: 22 characters that are valid in a URL. It is derived from the names of the place and never
    /// changes.
    pub fn id(&self) -> String {
        let text = [self.kind.word(), self.country, self.state, self.name].join("/");
        BASE64_URL_SAFE_NO_PAD.encode(fingerprint(text.as_bytes()).to_be_bytes())
    }
}

/// FNV-1a in 128 bits. It only has to distinguish names, and is not a secret.
fn fingerprint(bytes: &[u8]) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(START, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

/// Creates a box from south, west, north and east.
const fn area([south, west, north, east]: [f64; 4]) -> Area {
    Area { south, west, north, east }
}

const fn city(
    name: &'static str,
    state: &'static str,
    country: &'static str,
    bounds: [f64; 4],
    centroid: [f64; 2],
) -> Place {
    Place { name, kind: PlaceKind::City, state, country, bounds: area(bounds), centroid }
}

const fn province(name: &'static str, country: &'static str, bounds: [f64; 4], centroid: [f64; 2]) -> Place {
    Place { name, kind: PlaceKind::Province, state: "", country, bounds: area(bounds), centroid }
}

/// Returns every place.
pub fn all() -> impl Iterator<Item = &'static Place> {
    [
        americas::CITIES,
        europe::CITIES,
        asia_pacific::CITIES,
        states::PROVINCES,
        states_europe::PROVINCES,
        states_world::PROVINCES,
    ]
    .into_iter()
    .flatten()
}

/// Returns the place with an id.
pub fn by_id(id: &str) -> Option<&'static Place> {
    all().find(|place| place.id() == id)
}

/// Returns places with this name, then those whose names begin with it, then those that contain it. Case and accents
/// are ignored.
pub fn named(name: &str, kind: Option<PlaceKind>) -> Vec<&'static Place> {
    let wanted = plain(name);
    let rank = |place: &Place| {
        let name = plain(place.name);
        if name == wanted {
            Some(0)
        } else if name.starts_with(&wanted) {
            Some(1)
        } else {
            name.contains(&wanted).then_some(2)
        }
    };
    let of_kind = all().filter(|place| kind.is_none_or(|kind| kind == place.kind));
    let mut found: Vec<(i32, &Place)> = of_kind.filter_map(|place| Some((rank(place)?, place))).collect();
    found.sort_by_key(|(rank, place)| (*rank, place.name, place.kind, place.country, place.state));
    found.into_iter().map(|(_, place)| place).collect()
}

/// Returns places that contain a point, smallest first.
pub(crate) fn containing(latitude: f64, longitude: f64, kind: Option<PlaceKind>) -> Vec<&'static Place> {
    smallest_first(kind, |place| place.bounds.contains(latitude, longitude))
}

/// Returns places that share a point with a box, smallest first.
pub fn touching(area: &Area, kind: Option<PlaceKind>) -> Vec<&'static Place> {
    smallest_first(kind, |place| place.bounds.touches(area))
}

fn smallest_first(kind: Option<PlaceKind>, is_it: impl Fn(&Place) -> bool) -> Vec<&'static Place> {
    let of_kind = all().filter(|place| kind.is_none_or(|kind| kind == place.kind));
    let mut found: Vec<&Place> = of_kind.filter(|place| is_it(place)).collect();
    found.sort_by(|a, b| a.bounds.size().total_cmp(&b.bounds.size()).then_with(|| a.kind.cmp(&b.kind)));
    found
}

/// Returns a name in lower case without accents.
fn plain(name: &str) -> String {
    let letters = name.chars().flat_map(char::to_lowercase);
    letters
        .map(|letter| ACCENTS.iter().find(|(with, _)| with.contains(letter)).map_or(letter, |(_, bare)| *bare))
        .collect()
}

/// Accented letters in the table's names, and the letters that people type instead.
const ACCENTS: &[(&str, char)] =
    &[("áàâäãå", 'a'), ("ç", 'c'), ("éèêë", 'e'), ("íìîï", 'i'), ("ñ", 'n'), ("óòôöõø", 'o'), ("úùûü", 'u')];

#[cfg(test)]
mod tests;
