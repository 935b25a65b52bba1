//! The kinds of resources: one file each, and the table of them all.
//!
//! A kind describes itself, and no other file matches on kinds: code that needs all of them loops over [`KINDS`], and
//! code that needs what several have in common uses a resource's [`Parts`].

pub mod census;
mod firing;
mod json;
mod lifecycle;
mod parts;
mod references;
pub mod remote;
mod runs;

use std::any::Any;
use std::fmt::Debug;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

pub use census::{Census, Counted};
pub use parts::{Audience, Parts, ReadableText, Role, SendRule, Sending, TagUse};
pub use remote::{
    Api, Belonging, Create, Delete, Firing, Found, Lifecycle, Read, Remote, Runs, Tagging, Update, Whose,
};

use crate::address::{Address, KIND_KEYS};
use crate::node::{At, Decode, Name, Node, Reader, Shared, from_json};
use crate::nouns::push::Push;
use crate::source::{FileId, Span};

/// The part of a kind that its author writes.
pub trait Resource: Serialize + Decode + JsonSchema + Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The key of its map in a manifest: `segments`.
    const KEY: &'static str;
    /// The noun for one of them: `segment`.
    const NOUN: &'static str;
    /// The purpose of the kind, in a sentence.
    const PURPOSE: &'static str;

    /// Keys of maps that may also be written as a list of them.
    const ONE_OR_MANY: &'static [&'static str] = &[];

    /// The fields that `rules` describes in words.
    const RULES: &'static [&'static str] = &[];

    /// Fills in what the resource's key implies: a name that was left out.
    fn settle(&mut self, key: &At<String>);

    /// Returns the name that identifies it on the service, if that must be unique. Names in the dashboard need not be.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Returns what only one resource of the kind can have at a time: the noun for it, and the id of each.
    fn held(&self) -> Vec<(&'static str, &At<Name>)> {
        Vec::new()
    }

    /// Collects its parts, for code that treats all kinds alike.
    fn parts<'r>(&'r self, parts: &mut Parts<'r>);

    /// Returns the pushes inside, to fill in their templates.
    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        Vec::new()
    }

    /// Describes the fields that decide whether and when a triggered message is sent.
    fn rules(&self) -> Vec<SendRule> {
        Vec::new()
    }
}

/// The name that identifies a resource on the service, and its position.
#[derive(Clone, Debug)]
pub struct Identity {
    pub name: String,
    pub at: Span,
}

/// A resource of any kind.
pub trait Spec: Any + Debug + Send + Sync {
    fn identity(&self) -> Option<Identity>;
    fn held(&self) -> Vec<(&'static str, &At<Name>)>;
    fn parts<'r>(&'r self, parts: &mut Parts<'r>);
    fn pushes(&mut self) -> Vec<&mut At<Push>>;
    fn rules(&self) -> Vec<SendRule>;
    /// Returns the canonical form, which is the same for every spelling.
    fn canonical(&self) -> serde_json::Value;
    /// Returns the canonical form with its fields in the order of their declaration.
    fn in_order(&self) -> Node;
    /// Returns the units that it is applied as, each with its key and spec.
    fn units(&self, key: &str) -> Vec<(String, Shared)>;
}

impl<R: Remote> Spec for R {
    fn identity(&self) -> Option<Identity> {
        Resource::identity(self)
    }
    fn held(&self) -> Vec<(&'static str, &At<Name>)> {
        Resource::held(self)
    }
    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        Resource::parts(self, parts);
    }
    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        Resource::pushes(self)
    }
    fn rules(&self) -> Vec<SendRule> {
        Resource::rules(self)
    }
    fn canonical(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a resource has text keys only")
    }
    fn in_order(&self) -> Node {
        // A JSON value does not keep the order, but a JSON text does.
        let text = serde_json::to_string(self).expect("a resource has text keys only");
        let node = from_json(FileId::ONLY, &text).expect("what was written can be read");
        node.nowhere()
    }
    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        Remote::units(self, key)
    }
}

/// Returns the resource as its own type, if it is of that kind.
pub fn of_kind<R: Resource>(spec: &dyn Spec) -> Option<&R> {
    (spec as &dyn Any).downcast_ref()
}

/// Reads a resource with its key.
pub type Decoder = fn(&At<String>, &Node, &mut Reader) -> Option<Box<dyn Spec>>;

/// A row of the table of kinds.
#[derive(Debug)]
pub struct Kind {
    pub key: &'static str,
    pub noun: &'static str,
    pub purpose: &'static str,
    pub one_or_many: &'static [&'static str],
    /// The fields that decide whether and when a triggered message is sent.
    pub rules: &'static [&'static str],
    pub decode: Decoder,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The operations that the service's API supports.
    pub api: &'static dyn Api,
}

impl Kind {
    const fn of<R: Remote>() -> Self {
        Self {
            key: R::KEY,
            noun: R::NOUN,
            purpose: R::PURPOSE,
            one_or_many: R::ONE_OR_MANY,
            rules: R::RULES,
            decode: decode::<R>,
            schema: schema::<R>,
            api: &const { remote::Row::<R>(PhantomData) },
        }
    }

    /// Returns the plural of the noun.
    pub fn plural(&self) -> String {
        let ending = if self.noun.ends_with("sh") { "es" } else { "s" };
        format!("{}{ending}", self.noun)
    }
}

fn decode<R: Remote>(key: &At<String>, node: &Node, reader: &mut Reader) -> Option<Box<dyn Spec>> {
    let mut resource = R::decode(node, reader)?;
    resource.settle(key);
    Some(Box::new(resource))
}

fn schema<R: Resource>(generator: &mut SchemaGenerator) -> Schema {
    R::json_schema(generator)
}

/// Returns the kind with this manifest key.
pub fn kind(key: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.key == key)
}

/// Returns the kind of an address. Every address has one: an unknown kind is refused when it is read.
pub fn of(address: &Address) -> &'static Kind {
    &KINDS[address.kind.row()]
}

/// Returns the API operations for the kind of an address.
pub fn api(address: &Address) -> &'static dyn Api {
    of(address).api
}

/// Checks that the table has the keys that addresses know, in the same order.
const _: () = {
    assert!(KINDS.len() == KIND_KEYS.len(), "KIND_KEYS in address.rs has other kinds than this table");
    let mut row = 0;
    while row < KINDS.len() {
        let (one, other) = (KINDS[row].key.as_bytes(), KIND_KEYS[row].as_bytes());
        assert!(one.len() == other.len(), "KIND_KEYS in address.rs has other kinds than this table");
        let mut at = 0;
        while at < one.len() {
            assert!(one[at] == other[at], "KIND_KEYS in address.rs has other kinds than this table");
            at += 1;
        }
        row += 1;
    }
};

macro_rules! kinds {
    ($($file:ident::$type:ident,)*) => {
        $(mod $file; pub use $file::$type;)*

        /// Every kind, in the order for people.
        pub static KINDS: &[Kind] = &[$(Kind::of::<$type>()),*];
    };
}

kinds! {
    tag_group::TagGroup,
    segment::Segment,
    template::Template,
    pipeline::Pipeline,
    scheduled_push::ScheduledPush,
    experiment::Experiment,
    named_user::NamedUser,
    open_channel::OpenChannel,
    tag::LegacyTag,
}

pub use crate::nouns::trigger::Trigger;
pub use crate::nouns::variable::Variable;
pub use experiment::{VARIANT_COUNT, Variant};
pub use pipeline::{PipelineOutcome, is_further};
pub use template::Sample;
