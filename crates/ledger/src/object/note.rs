//! The note next to the records: the newest one, and where reading may begin.

use pushplan_model::digest::Digest;

use crate::intent::Seq;

/// The note's name among the records'. It sorts after all of them.
pub const NEWEST: &str = "newest";

/// The note of the last append. An older note does no harm: later records are found by listing. A note that names more
/// records than exist shows that records were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The newest record; 0 before the first one.
    pub seq: Seq,
    /// The newest checkpoint that the writer knew of, or 1.
    pub checkpoint: Seq,
    pub lineage: String,
}

impl Note {
    /// Returns the note of a ledger without records.
    pub(crate) fn before_the_first() -> Self {
        Self { seq: 0, checkpoint: 1, lineage: "-".to_owned() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let Self { seq, checkpoint, lineage } = self;
        let line = format!("{seq} {checkpoint} {lineage}\n");
        format!("{line}{}\n", Digest::of(line.as_bytes())).into_bytes()
    }

    /// Parses a note; `None` if it is damaged.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let (line, digest) = text.split_at_checked(text.find('\n')? + 1)?;
        if digest.strip_suffix('\n') != Some(Digest::of(line.as_bytes()).as_str()) {
            return None;
        }
        let mut words = line.trim_end().splitn(3, ' ');
        let mut number = || words.next()?.parse::<Seq>().ok();
        let (seq, checkpoint) = (number()?, number()?);
        let lineage = words.next()?.to_owned();
        (1..=seq.max(1)).contains(&checkpoint).then_some(Self { seq, checkpoint, lineage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_or_not_at_all() {
        let note = Note { seq: 12, checkpoint: 7, lineage: "one".into() };
        let bytes = note.bytes();
        assert_eq!(Note::read(&bytes), Some(note));
        assert_eq!(Note::read(&Note::before_the_first().bytes()), Some(Note::before_the_first()));
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(Note::read(&other), None, "byte {at}");
            assert_eq!(Note::read(&bytes[..at]), None, "{at} bytes");
        }
        let beyond = Note { seq: 3, checkpoint: 4, lineage: "one".into() };
        assert_eq!(Note::read(&beyond.bytes()), None);
    }
}
