//! What can be done with things of a kind, and how.

/// What can be done with things of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    pub read: Read,
    pub create: Create,
    pub update: Update,
    pub delete: Delete,
}

/// How it is found out what the service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A listing holds everything.
    Listed,
    /// A listing holds names and version stamps, each thing is read by itself.
    ListedThenGet,
    /// There is no listing, but each can be looked up.
    LookedUp,
    /// The service does not tell: the ledger remembers.
    LedgerOnly,
}

/// The effect of a second creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// Updates the existing resource, because pushplan chooses the identity.
    Upsert,
    /// Creates a second resource with the same name.
    Anew,
    /// Creates a second resource that messages people by itself.
    Once,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    InPlace,
    /// A new one is made in the place of the old.
    Replacing,
    /// By hand, in the dashboard.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delete {
    Anytime,
    /// Until it has begun.
    BeforeStart,
    /// Until it has messaged people for the last time. What of it is still to come is cancelled with that.
    BeforeEnd,
    /// By hand, in the dashboard.
    Never,
}

impl Delete {
    /// Whether it can be deleted while something of it is still to come, and where it has begun or has not.
    pub fn is_possible(self, has_begun: bool) -> bool {
        match self {
            Self::Anytime | Self::BeforeEnd => true,
            Self::BeforeStart => !has_begun,
            Self::Never => false,
        }
    }
}
