use super::{Action, Change, Plan, Reason, RemoteThing};

impl Change {
    /// Whether a person has to do something. A deletion that waits for other managed resources is done by a later apply.
    pub fn is_manual(&self) -> bool {
        let is_ours = |thing: &RemoteThing| matches!(thing, RemoteThing::Ours(_));
        let waits = |reason: &Reason| matches!(reason, Reason::StillUsed { by, .. } if by.iter().all(is_ours));
        self.action == Action::ByHand && !self.reasons.iter().any(waits)
    }

    /// Whether it is a deletion that waits for remaining users of the resource.
    pub fn is_held(&self) -> bool {
        self.desired.is_none() && self.reasons.iter().any(|reason| matches!(reason, Reason::StillUsed { .. }))
    }

    /// Whether the time in the files has passed or is too near. Apply refuses such a change, and an existing resource
    /// keeps its time.
    pub fn is_too_late(&self) -> bool {
        self.action != Action::Past && self.reasons.iter().any(|reason| matches!(reason, Reason::TooLate { .. }))
    }

    /// Whether the service no longer has it, and it is not created again.
    pub fn is_gone(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::NeverTwice))
    }
}

impl Plan {
    /// The number of manual steps that are left after an apply.
    pub fn manual(&self) -> usize {
        self.changes.iter().filter(|change| change.is_manual()).count()
    }
}
