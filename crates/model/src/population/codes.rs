//! A column with one value for each device, stored as numeric codes.

/// The codes of a device whose value is unknown, and of one without a value.
pub const UNKNOWN: u32 = 0;
pub const ABSENT: u32 = 1;
/// The code of the first value.
pub const FIRST: u32 = 2;

/// A column of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codes {
    /// The value of each code, from [`FIRST`] on.
    pub values: Vec<String>,
    pub of: CodeColumn,
}

/// The code of each device, in as few bytes as the values take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeColumn {
    Bytes(Vec<u8>),
    Wide(Vec<u32>),
}

/// A set of codes.
#[derive(Clone, Debug)]
pub struct WantedCodes {
    all: Vec<bool>,
    /// The first 256 codes as 0 and 1, so that a byte needs no bounds check.
    bytes: [u8; 256],
}

impl WantedCodes {
    pub fn new(all: Vec<bool>) -> Self {
        let mut bytes = [0; 256];
        bytes.iter_mut().zip(&all).for_each(|(byte, is_wanted)| *byte = u8::from(*is_wanted));
        Self { all, bytes }
    }
}

impl Codes {
    pub fn new(values: Vec<String>, codes: Vec<u32>) -> Self {
        let of = match values.len() + FIRST as usize <= 256 {
            true => CodeColumn::Bytes(codes.into_iter().map(|code| code as u8).collect()),
            false => CodeColumn::Wide(codes),
        };
        Self { values, of }
    }

    /// Whether the value of some device is unknown.
    pub fn has_unknown(&self) -> bool {
        match &self.of {
            CodeColumn::Bytes(codes) => codes.iter().any(|code| u32::from(*code) == UNKNOWN),
            CodeColumn::Wide(codes) => codes.contains(&UNKNOWN),
        }
    }

    /// Sets the bits of a block for the devices with a wanted code, starting at device `from`.
    pub fn add_to(&self, wanted: &WantedCodes, from: usize, block: &mut [u64]) {
        match &self.of {
            CodeColumn::Bytes(codes) => {
                add(codes.get(from..).unwrap_or_default(), |code| wanted.bytes[usize::from(code)], block);
            }
            CodeColumn::Wide(codes) => {
                let is_wanted = |code: u32| u8::from(wanted.all.get(code as usize).copied().unwrap_or_default());
                add(codes.get(from..).unwrap_or_default(), is_wanted, block);
            }
        }
    }
}

fn add<C: Copy>(codes: &[C], is_wanted: impl Fn(C) -> u8, block: &mut [u64]) {
    for (word, codes) in block.iter_mut().zip(codes.chunks(64)) {
        for (place, code) in codes.iter().enumerate() {
            *word |= u64::from(is_wanted(*code)) << place;
        }
    }
}
