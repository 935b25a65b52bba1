//! The operations that a kind supports, and how.

/// The operations that a kind supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    pub read: Read,
    pub create: Create,
    pub update: Update,
    pub delete: Delete,
}

/// How pushplan reads what the service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A list contains everything.
    Listed,
    /// A list contains names and version stamps, and each resource is read separately.
    ListedThenGet,
    /// There is no list, but each resource can be looked up.
    LookedUp,
    /// The service cannot be asked, so the ledger is used.
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
    /// A new resource replaces the old one.
    Replacing,
    /// Only manually, in the dashboard.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delete {
    Anytime,
    /// Until it has started.
    BeforeStart,
    /// Until its last send. Remaining messages are cancelled.
    BeforeEnd,
    /// Only manually, in the dashboard.
    Never,
}

impl Delete {
    /// Whether it can be deleted while messages remain, depending on whether it has started.
    pub fn is_possible(self, has_begun: bool) -> bool {
        match self {
            Self::Anytime | Self::BeforeEnd => true,
            Self::BeforeStart => !has_begun,
            Self::Never => false,
        }
    }
}
