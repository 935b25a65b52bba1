//! A set of devices, by their numbers.

/// Devices by their numbers, in the smaller of two forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSet {
    /// Sorted, each once.
    Few(Vec<u32>),
    /// A bit for each device.
    Many(Vec<u64>),
}

impl DeviceSet {
    /// Returns the set of some sorted numbers, in a population of `devices` devices.
    pub fn new(numbers: Vec<u32>, devices: usize) -> Self {
        // A number takes as much memory as 32 bits.
        if numbers.len() <= devices / 32 {
            return Self::Few(numbers);
        }
        let mut words = vec![0; devices.div_ceil(64)];
        numbers.iter().for_each(|number| words[*number as usize / 64] |= 1 << (number % 64));
        Self::Many(words)
    }

    /// Sets the bits of a block for the devices of the set, starting at device `from`, a multiple of 64.
    pub fn add_to(&self, from: usize, block: &mut [u64]) {
        match self {
            Self::Few(numbers) => {
                let (start, end) = (from as u32, (from + 64 * block.len()) as u32);
                let first = numbers.partition_point(|number| *number < start);
                for number in numbers[first..].iter().take_while(|number| **number < end) {
                    let place = (number - start) as usize;
                    block[place / 64] |= 1 << (place % 64);
                }
            }
            Self::Many(words) => {
                for (word, own) in block.iter_mut().zip(words.iter().skip(from / 64)) {
                    *word |= own;
                }
            }
        }
    }
}
