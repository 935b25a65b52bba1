use super::{Action, Change, Plan, Reason, RemoteThing};

impl Change {
    /// Whether a person has to do something. A deletion that waits for other managed resources is done by a later apply.
    pub(crate) fn is_manual(&self) -> bool {
        let is_ours = |thing: &RemoteThing| matches!(thing, RemoteThing::Ours(_));
        let waits = |reason: &Reason| matches!(reason, Reason::StillUsed { by, .. } if by.iter().all(is_ours));
        self.action == Action::ByHand && !self.reasons.iter().any(waits)
    }
}

impl Plan {
    /// How many manual steps are left once it is applied.
    pub fn manual(&self) -> usize {
        self.changes.iter().filter(|change| change.is_manual()).count()
    }
}
