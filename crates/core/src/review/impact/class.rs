//! The class of a changed message: the reason to look at it.

use pushplan_model::audience::Relation;

use super::AudienceChange;

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageFate {
    New,
    Changed,
    Cancelled,
    /// The plan itself triggers it.
    Sent,
}

impl MessageFate {
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "create",
            Self::Changed => "change",
            Self::Cancelled => "cancel",
            Self::Sent => "send",
        }
    }
}

/// The reason to look at a message, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageClass {
    SendsNow,
    SendsLater,
    Everyone,
    More,
    Different,
    QuietHours,
    NewHost,
    Time,
    Text,
    Fewer,
    Nobody,
    New,
    Cancelled,
}

impl MessageClass {
    pub const ALL: [Self; 13] = [
        Self::SendsNow,
        Self::SendsLater,
        Self::Everyone,
        Self::More,
        Self::Different,
        Self::QuietHours,
        Self::NewHost,
        Self::Time,
        Self::Text,
        Self::Fewer,
        Self::Nobody,
        Self::New,
        Self::Cancelled,
    ];

    /// The label before a message.
    pub fn label(self) -> &'static str {
        match self {
            Self::SendsNow => "SENDS NOW",
            Self::SendsLater => "SENDS LATER",
            Self::Everyone => "EVERYONE",
            Self::More => "MORE",
            Self::Different => "DIFFERENT",
            Self::QuietHours => "QUIET HOURS",
            Self::NewHost => "NEW HOST",
            Self::Time => "TIME",
            Self::Text => "TEXT",
            Self::Fewer => "FEWER",
            Self::Nobody => "NOBODY",
            Self::New => "NEW",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// The name in machine-readable output.
    pub fn word(self) -> String {
        self.label().to_lowercase().replace(' ', "_")
    }

    /// Whether it concerns the recipients.
    pub(super) fn is_reach(self) -> bool {
        matches!(self, Self::More | Self::Different)
    }

    /// Whether people get an additional message, or at a bad time, or a link to an unknown host.
    pub fn is_risky(self) -> bool {
        self <= Self::NewHost
    }
}

/// The class of a message; `None` if it does not change.
pub(super) fn class(
    fate: MessageFate,
    audience: &AudienceChange,
    triggered: Option<MessageClass>,
    is_moved: bool,
    says_other: bool,
    is_quiet: bool,
    occurrences: Option<(usize, usize)>,
) -> Option<MessageClass> {
    let everyone = audience.everyone.then_some(MessageClass::Everyone);
    let quiet = is_quiet.then_some(MessageClass::QuietHours);
    if fate == MessageFate::Cancelled {
        return Some(MessageClass::Cancelled);
    }
    if fate == MessageFate::New {
        return [everyone, quiet, Some(MessageClass::New)].into_iter().flatten().min();
    }
    let reach = match &audience.relation {
        None | Some(Relation::Same) => None,
        Some(_) if audience.nobody => Some(MessageClass::Nobody),
        Some(Relation::Broader { .. }) => Some(MessageClass::More),
        Some(Relation::Narrower { .. }) => Some(MessageClass::Fewer),
        Some(Relation::Disjoint { .. } | Relation::Different { .. } | Relation::TooComplex) => {
            Some(MessageClass::Different)
        }
    };
    let moved = is_moved.then_some(MessageClass::Time);
    let sent_more = occurrences.filter(|(was, is)| is > was).map(|_| MessageClass::More);
    let sent_less = occurrences.filter(|(was, is)| is < was).map(|_| MessageClass::Fewer);
    let moved = sent_less.or(moved);
    let text = says_other.then_some(MessageClass::Text);
    // It reached everyone before as well, unless the relation says otherwise.
    let everyone = everyone.filter(|_| reach.is_some());
    [everyone, reach, sent_more, triggered, quiet, moved, text].into_iter().flatten().min()
}
