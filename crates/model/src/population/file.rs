//! A population as the content of a file: a line with the format and a checksum, then columns.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use super::codes::{CodeColumn, Codes, FIRST};
use super::set::DeviceSet;
use super::{MOST_DEVICES, Population, PopulationSource, SetName, SetSort};
use crate::digest::Digest;
use crate::nouns::vocabulary::GROUPS;

/// The format that this version writes.
const FORM: u32 = 1;
const WORD: &str = "pushplan-population";
/// The maximum length of the first line.
const LONGEST_LINE: usize = 120;

/// Why bytes are not a population that this version can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPopulation {
    NotOne,
    Damaged,
    /// Written by a version of pushplan that uses another format.
    OtherForm(u32),
}

impl fmt::Display for NoPopulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOne => f.write_str("it is not a population"),
            Self::Damaged => f.write_str("it is damaged"),
            Self::OtherForm(form) => write!(f, "it has form {form}, and this version of pushplan reads form {FORM}"),
        }
    }
}

impl Population {
    /// Returns the bytes of a file that holds the population.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Body(Vec::new());
        body.number(match self.source {
            PopulationSource::BuiltIn => 0,
            PopulationSource::Channels => 1,
            PopulationSource::Sample => 2,
        });
        body.text(&self.taken.map(|taken| taken.to_string()).unwrap_or_default());
        body.text(&self.app);
        body.number(self.devices);
        body.codes(&self.kinds);
        body.number(self.properties.len());
        for (group, codes) in GROUPS.iter().zip(&self.properties) {
            body.text(group.id);
            body.codes(codes);
        }
        body.number(self.sets.len());
        for ((sort, group, name), set) in &self.sets {
            body.number(*sort as usize);
            body.text(group);
            body.text(name);
            body.set(set);
        }
        self.untold.iter().chain([&self.has_user]).for_each(|set| body.set(set));
        let line = format!("{WORD} {FORM} {}\n", Digest::of(&body.0).as_str());
        [line.as_bytes(), &body.0].concat()
    }

    /// Reads a population. Damaged bytes are detected by their checksum.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, NoPopulation> {
        let start = &bytes[..bytes.len().min(LONGEST_LINE)];
        let end = start.iter().position(|byte| *byte == b'\n').ok_or(NoPopulation::NotOne)?;
        let line = std::str::from_utf8(&start[..end]).map_err(|_| NoPopulation::NotOne)?;
        let mut words = line.split(' ');
        let (word, form, checksum) = (words.next(), words.next(), words.next());
        if word != Some(WORD) {
            return Err(NoPopulation::NotOne);
        }
        let form: u32 = form.and_then(|form| form.parse().ok()).ok_or(NoPopulation::Damaged)?;
        if form != FORM {
            return Err(NoPopulation::OtherForm(form));
        }
        let body = &bytes[end + 1..];
        if checksum != Some(Digest::of(body).as_str()) {
            return Err(NoPopulation::Damaged);
        }
        Columns(body).population().ok_or(NoPopulation::Damaged)
    }
}

/// The output.
struct Body(Vec<u8>);

impl Body {
    fn number(&mut self, number: usize) {
        self.0.extend((number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend(text.as_bytes());
    }

    fn codes(&mut self, codes: &Codes) {
        self.number(codes.values.len());
        codes.values.iter().for_each(|value| self.text(value));
        match &codes.of {
            CodeColumn::Bytes(codes) => self.0.extend(codes),
            CodeColumn::Wide(codes) => codes.iter().for_each(|code| self.0.extend(code.to_le_bytes())),
        }
    }

    fn set(&mut self, set: &DeviceSet) {
        match set {
            DeviceSet::Few(numbers) => {
                self.number(numbers.len());
                numbers.iter().for_each(|number| self.0.extend(number.to_le_bytes()));
            }
            DeviceSet::Many(words) => {
                self.number(usize::MAX);
                words.iter().for_each(|word| self.0.extend(word.to_le_bytes()));
            }
        }
    }
}

/// The rest of the input.
struct Columns<'b>(&'b [u8]);

impl<'b> Columns<'b> {
    fn population(mut self) -> Option<Population> {
        let source = match self.number()? {
            0 => PopulationSource::BuiltIn,
            1 => PopulationSource::Channels,
            2 => PopulationSource::Sample,
            _ => return None,
        };
        let taken = match self.text()?.as_str() {
            "" => None,
            taken => Some(taken.parse::<Timestamp>().ok()?),
        };
        let app = self.text()?;
        let devices = self.number().filter(|devices| *devices <= MOST_DEVICES)?;
        let kinds = self.codes(devices)?;
        let mut by_group = BTreeMap::new();
        for _ in 0..self.number()? {
            let group = self.text()?;
            by_group.insert(group, self.codes(devices)?);
        }
        let unknown = || Codes::new(Vec::new(), vec![super::codes::UNKNOWN; devices]);
        let properties = GROUPS.iter().map(|group| by_group.remove(group.id).unwrap_or_else(unknown)).collect();
        let mut sets: BTreeMap<SetName, DeviceSet> = BTreeMap::new();
        for _ in 0..self.number()? {
            let sort = *SetSort::ALL.get(self.number()?)?;
            let (group, name) = (self.text()?, self.text()?);
            sets.insert((sort, group, name), self.set(devices)?);
        }
        let untold = SetSort::ALL.iter().map(|_| self.set(devices)).collect::<Option<_>>()?;
        let has_user = self.set(devices)?;
        self.0.is_empty().then_some(Population {
            source,
            taken,
            app,
            devices,
            kinds,
            properties,
            sets,
            untold,
            has_user,
        })
    }

    fn bytes(&mut self, number: usize) -> Option<&'b [u8]> {
        let (own, rest) = self.0.split_at_checked(number)?;
        self.0 = rest;
        Some(own)
    }

    fn number(&mut self) -> Option<usize> {
        let bytes = self.bytes(8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    fn wide(&mut self, number: usize) -> Option<Vec<u32>> {
        let bytes = self.bytes(number.checked_mul(4)?)?;
        let read = |four: &[u8]| four.try_into().map(u32::from_le_bytes);
        bytes.chunks_exact(4).map(read).collect::<Result<_, _>>().ok()
    }

    fn codes(&mut self, devices: usize) -> Option<Codes> {
        let number = self.number()?;
        // Each value takes at least the bytes of its length.
        if number > self.0.len() {
            return None;
        }
        let values: Vec<String> = (0..number).map(|_| self.text()).collect::<Option<_>>()?;
        let of = match values.len() + FIRST as usize <= 256 {
            true => CodeColumn::Bytes(self.bytes(devices)?.to_vec()),
            false => CodeColumn::Wide(self.wide(devices)?),
        };
        Some(Codes { values, of })
    }

    fn set(&mut self, devices: usize) -> Option<DeviceSet> {
        match self.number()? {
            usize::MAX => {
                let bytes = self.bytes(devices.div_ceil(64).checked_mul(8)?)?;
                let read = |eight: &[u8]| eight.try_into().map(u64::from_le_bytes);
                Some(DeviceSet::Many(bytes.chunks_exact(8).map(read).collect::<Result<_, _>>().ok()?))
            }
            number => {
                let numbers = self.wide(number)?;
                let is_sorted = numbers.is_sorted_by(|one, next| one < next);
                let is_within = numbers.last().is_none_or(|last| (*last as usize) < devices);
                (is_sorted && is_within).then_some(DeviceSet::Few(numbers))
            }
        }
    }
}
