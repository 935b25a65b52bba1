//! The explored worlds, and their sizes.

use pushplan::nouns::level::Level;

use super::{Fault, Protection, Setup, Shape};

impl Setup {
    /// A world without an applied state and without faults.
    pub fn new(level: Level) -> Self {
        Self {
            level,
            shape: Shape { names_segment: false },
            applied: false,
            runs: 2,
            faults: 0,
            edits: 0,
            fine: false,
            concurrency: 1,
            kinds: Fault::ALL.to_vec(),
            off: Vec::new(),
        }
    }

    /// The difference from other worlds, in words.
    pub fn name(&self) -> String {
        let level = if self.level == Level::Extended { "extended" } else { "documented" };
        let applied = if self.applied { "applied before" } else { "nothing applied" };
        let shape = if self.shape.names_segment { "push to the segment" } else { "push to a tag" };
        let Self { runs, faults, edits, .. } = self;
        format!("{level}, {applied}, {shape}, {runs} appliers, {faults} faults, {edits} edits")
    }

    /// Both levels and both shapes, with these numbers of faults and edits.
    fn all(applied: bool, faults: u8, edits: u8) -> Vec<Self> {
        let mut all = Vec::new();
        for level in [Level::Documented, Level::Extended] {
            for names_segment in [false, true] {
                all.push(Self { applied, shape: Shape { names_segment }, faults, edits, ..Self::new(level) });
            }
        }
        all
    }

    /// One edit, or one fault: seconds in a debug build.
    pub fn small() -> Vec<Self> {
        let mut all = Self::all(true, 0, 1);
        all.extend(Self::all(false, 1, 0).into_iter().filter(|setup| setup.shape.names_segment));
        all
    }

    /// Two faults, or one fault and one edit: about two minutes on one core.
    pub fn medium() -> Vec<Self> {
        let mut all = Self::all(true, 1, 1);
        all.extend(Self::all(true, 2, 0));
        all.extend(Self::all(false, 2, 0).into_iter().filter(|setup| setup.shape.names_segment));
        all
    }

    /// Two faults and one edit.
    pub fn large() -> Vec<Self> {
        let mut all = Self::all(true, 2, 1);
        all.extend(Self::all(false, 2, 1));
        all
    }

    /// A world in which the absence of a protection is detected.
    pub fn without(protection: Protection) -> Self {
        let documented = Self { off: vec![protection], ..Self::new(Level::Documented) };
        let extended = Self { off: vec![protection], ..Self::new(Level::Extended) };
        let with = |setup: Self, kinds: &[Fault]| Self { faults: 1, kinds: kinds.to_vec(), ..setup };
        let edited = |setup: Self| Self { applied: true, edits: 1, ..setup };
        match protection {
            Protection::Intent
            | Protection::Adopt
            | Protection::CreateIfAbsent
            | Protection::SendDeadline
            | Protection::Turn => documented,
            // Two lists a settle time apart compensate for it.
            Protection::SettleWait => {
                with(Self { off: vec![protection, Protection::TwoLists], ..extended }, &[Fault::Delayed])
            }
            Protection::OwnClock => Self {
                off: vec![protection, Protection::TwoLists],
                faults: 2,
                kinds: vec![Fault::ClockAhead, Fault::Delayed],
                ..extended
            },
            Protection::AbsenceCheck => with(edited(extended), &[Fault::ListIncomplete]),
            Protection::Unowned => Self { edits: 1, ..documented },
            Protection::Past => with(documented, &[Fault::NearlyDue]),
            Protection::Lease => with(documented, &[Fault::Slow]),
            Protection::Observe => with(documented, &[Fault::ClockAhead]),
            Protection::TwoLists => with(extended, &[Fault::ListIncomplete]),
            Protection::ReportedSends => Self { edits: 1, ..with(extended, &[Fault::LostAfter]) },
            Protection::RereadUpdated => with(edited(extended), &[Fault::ServiceRestored]),
            Protection::ConfirmDeletion => with(edited(extended), &[Fault::FalseGone]),
            Protection::DoubtAnswers => with(documented, &[Fault::TimeoutDone]),
            Protection::Similar => edited(documented),
            Protection::Older => with(edited(extended), &[Fault::OlderClone]),
            Protection::Mark | Protection::Gap => with(documented, &[Fault::LedgerSetBack]),
        }
    }
}
