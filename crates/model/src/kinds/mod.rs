//! The kinds of resources: one file each, and the table of them all.
//!
//! A kind says what it is made of and no other file matches on kinds: whoever needs all of them loops over [`KINDS`], and
//! whoever needs what several have in common asks for a resource's [`Parts`].

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
pub use parts::{Audience, Parts, ReadableText, Role, Sending, TagUse};
pub use remote::{
    Api, Belonging, Create, Delete, Firing, Found, Lifecycle, Read, Remote, Runs, Tagging, Update, Whose,
};

use crate::address::{Address, KIND_KEYS};
use crate::node::{At, Decode, Name, Node, Reader, Shared, from_json};
use crate::nouns::push::Push;
use crate::source::{FileId, Span};

/// All that the author of a kind writes.
pub trait Resource: Serialize + Decode + JsonSchema + Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The key of its map in a manifest: `segments`.
    const KEY: &'static str;
    /// What people call one of them: `segment`.
    const NOUN: &'static str;
    /// What a kind is for, in a sentence.
    const PURPOSE: &'static str;

    /// Keys of maps that may also be written as a list of them.
    const ONE_OR_MANY: &'static [&'static str] = &[];

    /// Fills in what the resource's key says where nothing else does: a name that was left out.
    fn settle(&mut self, key: &At<String>);

    /// What the service knows it by, where that can stand once only. Names in the dashboard can stand twice.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// What only one resource of the kind can have at a time: what people call such a thing, and the id of each.
    fn held(&self) -> Vec<(&'static str, &At<Name>)> {
        Vec::new()
    }

    /// What it is made of, for whoever looks at all kinds alike.
    fn parts<'r>(&'r self, parts: &mut Parts<'r>);

    /// The pushes inside, for filling in their templates.
    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        Vec::new()
    }
}

/// What the service knows a resource by, and where it is said.
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
    /// The canonical form: the same for every way of writing the same thing.
    fn canonical(&self) -> serde_json::Value;
    /// The canonical form with its fields in the order of their declaration.
    fn in_order(&self) -> Node;
    /// The single things that it is applied as, each with its key and spec.
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
    fn canonical(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a resource has text keys only")
    }
    fn in_order(&self) -> Node {
        // A JSON value forgets the order, a JSON text does not.
        let text = serde_json::to_string(self).expect("a resource has text keys only");
        let node = from_json(FileId::ONLY, &text).expect("what was written can be read");
        node.nowhere()
    }
    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        Remote::units(self, key)
    }
}

/// The resource as its own type, where it is of that kind.
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
    pub decode: Decoder,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// What the service lets one do with it.
    pub api: &'static dyn Api,
}

impl Kind {
    const fn of<R: Remote>() -> Self {
        Self {
            key: R::KEY,
            noun: R::NOUN,
            purpose: R::PURPOSE,
            one_or_many: R::ONE_OR_MANY,
            decode: decode::<R>,
            schema: schema::<R>,
            api: &const { remote::Row::<R>(PhantomData) },
        }
    }

    /// The noun for several.
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

/// The kind with that manifest key.
pub fn kind(key: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.key == key)
}

/// The kind of what an address names. Every address has one: text of an unknown kind is refused where it is read.
pub fn of(address: &Address) -> &'static Kind {
    &KINDS[address.kind.row()]
}

/// What the service lets one do with what an address names.
pub fn api(address: &Address) -> &'static dyn Api {
    of(address).api
}

/// The table has the keys that addresses know, in the same order.
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

        /// Every kind, in the order in which people read them.
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
