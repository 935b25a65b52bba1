//! One value for each device, as a number that stands for it.

/// The code of a device of which the value is not known, and of one that has no value.
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

impl Codes {
    pub fn new(values: Vec<String>, codes: Vec<u32>) -> Self {
        let of = match values.len() + FIRST as usize <= 256 {
            true => CodeColumn::Bytes(codes.into_iter().map(|code| code as u8).collect()),
            false => CodeColumn::Wide(codes),
        };
        Self { values, of }
    }

    /// Adds the devices from a number on to the bits of a block, those whose code is wanted.
    pub fn add_to(&self, wanted: &[bool], from: usize, block: &mut [u64]) {
        match &self.of {
            CodeColumn::Bytes(codes) => add(codes.get(from..).unwrap_or_default(), wanted, block),
            CodeColumn::Wide(codes) => add(codes.get(from..).unwrap_or_default(), wanted, block),
        }
    }
}

fn add<C: Copy + Into<u32>>(codes: &[C], wanted: &[bool], block: &mut [u64]) {
    for (word, codes) in block.iter_mut().zip(codes.chunks(64)) {
        for (place, code) in codes.iter().enumerate() {
            let code: u32 = (*code).into();
            let is_wanted = wanted.get(code as usize).copied().unwrap_or_default();
            *word |= u64::from(is_wanted) << place;
        }
    }
}
