//! Resources, some of which are typed before the target is known.

use pushplan_model::kinds::Kind;
use pushplan_model::node::At;

use super::resolving::Typed;
use crate::manifest::collect::Declaration;

/// A resource, as far as it is processed.
#[derive(Debug)]
pub enum EarlyResource {
    Typed(&'static Kind, Box<Typed>),
    Tree(Declaration),
}

impl EarlyResource {
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::Typed(kind, _) | Self::Tree(Declaration { kind, .. }) => kind,
        }
    }

    pub fn key(&self) -> &At<String> {
        match self {
            Self::Typed(_, typed) => &typed.key,
            Self::Tree(own) => &own.key,
        }
    }
}
