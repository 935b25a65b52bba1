//! The operations of the service's API for a kind: each kind states them as data and pure requests, and the planner
//! selects from them.

use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;

use jiff::Timestamp;
use serde_json::Value;

pub use super::firing::{Belonging, ChannelId, Firing, FollowUp, TagTrigger, Tagging, Whose, moved};
pub use super::json::{text, texts};
pub use super::lifecycle::{Create, Delete, Lifecycle, Read, Update};
pub use super::references::{may_name, named, named_ids, names_any, point, pointed, segments};
pub use super::runs::{Coming, Runs, moments, to_come};
use super::{Census, Counted, Resource, Spec};
use crate::codes::Limit;
use crate::exchange::{Answer, BadAnswer, Method, Request};
use crate::node::{At, Node, Reader, Shared};
use crate::nouns::level::Level;
use crate::source::Span;

/// A resource on the service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub id: String,
    /// Its name there. Two resources may have the same name.
    pub name: String,
    /// Changes whenever the resource is changed, if the service reports it.
    pub stamp: Option<String>,
    /// Its content in canonical form, with segments by id; `None` if it has not been read yet.
    pub spec: Option<Shared>,
    /// When it was last used, if the service reports it.
    pub used: Option<Timestamp>,
    /// When it was created, if the service reports it.
    pub made: Option<Timestamp>,
    /// The ids of the pushes that it sends, if the service reports them.
    pub push_ids: Vec<String>,
}

/// The part of a kind that its author writes about the API. Specs are in canonical form; those in requests name
/// segments by id, as on the wire.
pub trait Remote: Resource {
    /// The places of its audiences in a spec.
    const AUDIENCES: &'static [&'static str] = &[];
    /// The key of the items of a list.
    const LISTED: &'static str = Self::KEY;
    /// The field with its name on the service.
    const NAME: &'static str = "name";
    /// Whether its key is its name on the service, so that it has no field for it: another key means another resource.
    const NAMED_BY_KEY: bool = false;

    /// Whether resources of the kind message people by themselves: whether `runs` ever returns something.
    const HAS_RUNS: bool = false;

    /// Whether resources of the kind send messages, by themselves or when something triggers them.
    const SPEAKS: bool = false;

    /// The plural noun for what exists once for each person, if that is not the kind itself.
    const SINGLES: Option<&'static str> = None;

    fn lifecycle(level: Level) -> Lifecycle;

    /// The limit of the API that requires another way to change it.
    fn limit(_level: Level) -> Option<&'static Limit> {
        None
    }

    /// Returns the units that it is applied as, each with its key and spec.
    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        vec![(key.to_owned(), Shared::of(self))]
    }

    /// Returns the resource that consists of these units: the inverse of `units`. Null if there is no resource without
    /// them.
    fn whole(units: &[&Value]) -> Value {
        units.first().map(|unit| (*unit).clone()).unwrap_or_default()
    }

    /// Returns the lists of people and devices that show what exists once for each of them.
    fn census() -> Vec<Census> {
        Vec::new()
    }

    /// Returns what an item of such a list has of this kind.
    fn counted(_item: &Value) -> Vec<Counted> {
        Vec::new()
    }

    /// Returns the requests that list all resources of the kind. A resource may be in several answers.
    fn list(_level: Level) -> Vec<Request> {
        Vec::new()
    }

    /// Whether a list with this number of items is known to be complete.
    fn is_whole(_items: usize) -> bool {
        true
    }

    /// Whether a list no longer contains it once it was sent.
    fn leaves_list_when_sent() -> bool {
        false
    }

    /// Parses an item of a list.
    fn found(_object: &Value) -> Option<Found> {
        None
    }

    /// Returns the time of the change that a version stamp stands for, if it contains one.
    fn stamped(_stamp: &str) -> Option<Timestamp> {
        None
    }

    /// Returns the request that reads one resource. If there is no list, its spec says where to look.
    fn get(_id: &str, _spec: &Value, _level: Level) -> Option<Request> {
        None
    }

    /// Parses the answer to `get`, together with what was last known. `Ok(None)`: it does not exist; `Err`: the answer
    /// is invalid.
    fn got(_id: &str, _known: &Value, _body: &Value) -> Result<Option<Found>, BadAnswer> {
        Ok(None)
    }

    /// Returns the id that it will have, if pushplan chooses the id.
    fn own_id(_spec: &Value) -> Option<String> {
        None
    }

    /// Returns its identity on the service, if pushplan chooses it: two specs with the same identity are the same
    /// resource.
    fn identity(spec: &Value) -> Option<String> {
        Self::own_id(spec)
    }

    /// The path to which the spec of a new resource is posted unchanged; `None` if its request differs.
    const POSTED_TO: Option<&'static str> = None;

    fn create(spec: &Value) -> Request {
        Request::post(Self::POSTED_TO.unwrap_or_default(), spec)
    }

    /// Returns the id of the created resource.
    fn created(spec: &Shared, answer: &Answer) -> Option<String>;

    /// Returns the request that turns one spec into another; `None` if it cannot be updated in place.
    fn update(_id: &str, _old: &Value, _new: &Value, _level: Level) -> Option<Request> {
        None
    }

    fn delete(_id: &str, _old: &Value, _level: Level) -> Option<Request> {
        None
    }

    /// Returns when it begins to message people by itself, and when it has ended; `None` if it never does so.
    fn runs(_spec: &Value) -> Option<Runs> {
        None
    }

    /// Returns the times at which it sends by itself. Each of them is a separate push with its own report.
    fn occasions(spec: &Value) -> Vec<Runs> {
        Self::runs(spec).into_iter().collect()
    }

    /// Returns each time at which it messages people by itself.
    fn times(spec: &Value) -> Vec<Runs> {
        Self::occasions(spec)
    }

    /// The list in its spec whose items have one time each, in the order of `times`.
    const TIMED: Option<&'static str> = None;

    /// Returns the ids of the pushes that it sends, from the answer to a request or an item of a list: one for each
    /// occasion, in their order.
    fn push_ids(_object: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Returns why a successful answer means that nothing was changed.
    fn left_out(_answer: &Value) -> Option<String> {
        None
    }

    /// Returns the tags that someone gets or loses when one spec becomes another, is created or is deleted.
    fn taggings(_old: Option<&Shared>, _new: Option<&Shared>) -> Vec<Tagging> {
        Vec::new()
    }

    /// Returns the channel that a named user gets or loses when one spec becomes another, is created or is deleted.
    fn belonging(_old: Option<&Shared>, _new: Option<&Shared>) -> Option<Belonging> {
        None
    }

    /// Returns the channel that receives nothing from then on when one spec becomes another or is deleted.
    fn departing(_old: Option<&Shared>, _new: Option<&Shared>) -> Option<Whose> {
        None
    }

    /// Returns the named user whose devices change when it is created, changed or deleted.
    fn devices_of(_spec: &Shared) -> Option<String> {
        None
    }

    /// Returns what a tag triggers; `None` if no tag does, or while it is turned off.
    fn firing(_spec: &Value) -> Option<Firing> {
        None
    }

    /// Whether it has no effect, so that another can replace it.
    fn is_off(_spec: &Value) -> bool {
        false
    }

    /// Whether it messages people, by itself or when triggered: two resources with the same content would message them
    /// twice.
    fn messages(_spec: &Value) -> bool {
        Self::HAS_RUNS
    }

    /// Whether its deletion removes it from every device, including devices that got it elsewhere.
    fn leaves_devices(_spec: &Value) -> bool {
        false
    }
}

/// [`Remote`] as a trait object, for the rows of the table.
pub trait Api: Debug + Send + Sync {
    fn audiences(&self) -> &'static [&'static str];
    fn listed(&self) -> &'static str;
    fn is_named_by_key(&self) -> bool;
    fn singles(&self) -> Option<&'static str>;
    fn whole(&self, units: &[&Value]) -> Value;
    fn census(&self) -> Vec<Census>;
    fn counted(&self, item: &Value) -> Vec<Counted>;
    fn lifecycle(&self, level: Level) -> Lifecycle;
    fn limit(&self, level: Level) -> Option<&'static Limit>;
    fn list(&self, level: Level) -> Vec<Request>;
    fn is_whole(&self, items: usize) -> bool;
    fn leaves_list_when_sent(&self) -> bool;
    fn found(&self, object: &Value) -> Option<Found>;
    fn stamped(&self, stamp: &str) -> Option<Timestamp>;
    fn get(&self, id: &str, spec: &Value, level: Level) -> Option<Request>;
    fn got(&self, id: &str, known: &Value, body: &Value) -> Result<Option<Found>, BadAnswer>;
    fn own_id(&self, spec: &Value) -> Option<String>;
    fn identity(&self, spec: &Value) -> Option<String>;
    fn create(&self, spec: &Value) -> Request;
    /// Returns the request that creates a resource whose spec names no segments. If the kind allows it, the spec is sent as it
    /// is written.
    fn create_just(&self, spec: &Shared) -> Request;
    /// Returns the method and the path of the request that creates the resource.
    fn create_at(&self, spec: &Shared) -> (Method, String);
    fn created(&self, spec: &Shared, answer: &Answer) -> Option<String>;
    fn update(&self, id: &str, old: &Value, new: &Value, level: Level) -> Option<Request>;
    fn delete(&self, id: &str, old: &Value, level: Level) -> Option<Request>;
    fn runs(&self, spec: &Value) -> Option<Runs>;
    fn occasions(&self, spec: &Value) -> Vec<Runs>;
    fn times(&self, spec: &Value) -> Vec<Runs>;
    /// Returns a spec without those of its times that are gone; `None` if all are.
    fn without(&self, spec: &Value, is_gone: &dyn Fn(&Runs) -> bool) -> Option<Value>;
    fn push_ids(&self, object: &Value) -> Vec<String>;
    fn left_out(&self, answer: &Value) -> Option<String>;
    fn taggings(&self, old: Option<&Shared>, new: Option<&Shared>) -> Vec<Tagging>;
    fn belonging(&self, old: Option<&Shared>, new: Option<&Shared>) -> Option<Belonging>;
    fn departing(&self, old: Option<&Shared>, new: Option<&Shared>) -> Option<Whose>;
    fn devices_of(&self, spec: &Shared) -> Option<String>;
    fn firing(&self, spec: &Value) -> Option<Firing>;
    fn is_off(&self, spec: &Value) -> bool;
    fn leaves_devices(&self, spec: &Value) -> bool;
    /// Returns its name on the service.
    fn name(&self, spec: &Value) -> String;
    /// Returns its name on the service, without parsing the rest of the spec.
    fn called(&self, spec: &Shared) -> String;
    /// Whether it messages people by itself, or may.
    fn has_runs(&self) -> bool;
    /// Whether it sends messages.
    fn speaks(&self) -> bool;
    fn messages(&self, spec: &Value) -> bool;
    /// Returns the field with its name; `None` if that is its key.
    fn name_field(&self) -> Option<&'static str>;
    /// Parses a spec as a resource, with segments by key; `None` if it is only a part of one.
    fn read(&self, spec: &Value) -> Option<Box<dyn Spec>>;
}

/// The row of a kind.
#[derive(Debug)]
pub struct Row<R>(pub PhantomData<fn() -> R>);

impl<R: Remote> Api for Row<R> {
    fn audiences(&self) -> &'static [&'static str] {
        R::AUDIENCES
    }
    fn listed(&self) -> &'static str {
        R::LISTED
    }
    fn is_named_by_key(&self) -> bool {
        R::NAMED_BY_KEY
    }
    fn singles(&self) -> Option<&'static str> {
        R::SINGLES
    }
    fn whole(&self, units: &[&Value]) -> Value {
        R::whole(units)
    }
    fn census(&self) -> Vec<Census> {
        R::census()
    }
    fn counted(&self, item: &Value) -> Vec<Counted> {
        R::counted(item)
    }
    fn lifecycle(&self, level: Level) -> Lifecycle {
        R::lifecycle(level)
    }
    fn limit(&self, level: Level) -> Option<&'static Limit> {
        R::limit(level)
    }
    fn list(&self, level: Level) -> Vec<Request> {
        R::list(level)
    }
    fn is_whole(&self, items: usize) -> bool {
        R::is_whole(items)
    }
    fn leaves_list_when_sent(&self) -> bool {
        R::leaves_list_when_sent()
    }
    fn found(&self, object: &Value) -> Option<Found> {
        R::found(object)
    }
    fn stamped(&self, stamp: &str) -> Option<Timestamp> {
        R::stamped(stamp)
    }
    fn get(&self, id: &str, spec: &Value, level: Level) -> Option<Request> {
        R::get(id, spec, level)
    }
    fn got(&self, id: &str, known: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        R::got(id, known, body)
    }
    fn own_id(&self, spec: &Value) -> Option<String> {
        R::own_id(spec)
    }
    fn identity(&self, spec: &Value) -> Option<String> {
        <R as Remote>::identity(spec)
    }
    fn create(&self, spec: &Value) -> Request {
        R::create(&wire::<R>(spec))
    }
    fn create_just(&self, spec: &Shared) -> Request {
        match R::POSTED_TO.filter(|_| R::ONE_OR_MANY.is_empty()) {
            Some(path) => Request { method: Method::Post, path: path.to_owned(), body: Some(spec.text().to_owned()) },
            None => self.create(spec),
        }
    }
    fn create_at(&self, spec: &Shared) -> (Method, String) {
        let path = R::POSTED_TO.map(|path| (Method::Post, path.to_owned()));
        path.unwrap_or_else(|| {
            let Request { method, path, .. } = self.create(spec);
            (method, path)
        })
    }
    fn created(&self, spec: &Shared, answer: &Answer) -> Option<String> {
        R::created(spec, answer)
    }
    fn update(&self, id: &str, old: &Value, new: &Value, level: Level) -> Option<Request> {
        R::update(id, &wire::<R>(old), &wire::<R>(new), level)
    }
    fn delete(&self, id: &str, old: &Value, level: Level) -> Option<Request> {
        R::delete(id, old, level)
    }
    fn runs(&self, spec: &Value) -> Option<Runs> {
        R::runs(spec)
    }
    fn occasions(&self, spec: &Value) -> Vec<Runs> {
        R::occasions(spec)
    }
    fn times(&self, spec: &Value) -> Vec<Runs> {
        R::times(spec)
    }
    fn without(&self, spec: &Value, is_gone: &dyn Fn(&Runs) -> bool) -> Option<Value> {
        let mut left = spec.clone();
        let Some(Value::Array(timed)) = R::TIMED.and_then(|list| left.get_mut(list)) else { return Some(left) };
        let mut stays = R::times(spec).into_iter().map(|runs| !is_gone(&runs));
        timed.retain(|_| stays.next().unwrap_or(true));
        (!timed.is_empty()).then_some(left)
    }
    fn push_ids(&self, object: &Value) -> Vec<String> {
        R::push_ids(object)
    }
    fn left_out(&self, answer: &Value) -> Option<String> {
        R::left_out(answer)
    }
    fn taggings(&self, old: Option<&Shared>, new: Option<&Shared>) -> Vec<Tagging> {
        R::taggings(old, new)
    }
    fn belonging(&self, old: Option<&Shared>, new: Option<&Shared>) -> Option<Belonging> {
        R::belonging(old, new)
    }
    fn departing(&self, old: Option<&Shared>, new: Option<&Shared>) -> Option<Whose> {
        R::departing(old, new)
    }
    fn devices_of(&self, spec: &Shared) -> Option<String> {
        R::devices_of(spec)
    }
    fn firing(&self, spec: &Value) -> Option<Firing> {
        R::firing(spec)
    }
    fn is_off(&self, spec: &Value) -> bool {
        R::is_off(spec)
    }
    fn messages(&self, spec: &Value) -> bool {
        R::messages(spec)
    }
    fn leaves_devices(&self, spec: &Value) -> bool {
        R::leaves_devices(spec)
    }
    fn name(&self, spec: &Value) -> String {
        text(&spec[R::NAME])
    }
    fn called(&self, spec: &Shared) -> String {
        spec.field(R::NAME).unwrap_or_default()
    }
    fn has_runs(&self) -> bool {
        R::HAS_RUNS
    }
    fn speaks(&self) -> bool {
        R::SPEAKS
    }
    fn name_field(&self) -> Option<&'static str> {
        (!R::NAMED_BY_KEY).then_some(R::NAME)
    }
    fn read(&self, spec: &Value) -> Option<Box<dyn Spec>> {
        let read = R::decode(&Node::from_json_value(spec), &mut Reader::default())?;
        Some(Box::new(read))
    }
}

/// Returns a spec in the contract's form: a list with one item becomes that item, if the kind allows both.
fn wire<R: Resource>(spec: &Value) -> Cow<'_, Value> {
    let mut wire = Cow::Borrowed(spec);
    for key in R::ONE_OR_MANY {
        if let Some([one]) = spec.get(*key).and_then(Value::as_array).map(Vec::as_slice) {
            wire.to_mut()[*key] = one.clone();
        }
    }
    wire
}

/// Converts an object of the service to canonical form; `None` if it is not understood. Keys that the service added are
/// left out.
pub fn canonical<R: Resource>(object: &Value, name: &str) -> Option<Shared> {
    let mut read = R::decode(&Node::from_json_value(object), &mut Reader::lenient())?;
    read.settle(&At::new(name.to_owned(), Span::NONE));
    Some(Shared::of(&read))
}

/// Parses a time of the service, in UTC if it has no zone.
pub fn time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    text.parse().ok().or_else(|| format!("{text}Z").parse().ok())
}

/// Returns an id in an answer's body under one of several keys, or at the end of a URL in the body or in the header.
pub(crate) fn id_in(answer: &Answer, keys: &[&str]) -> Option<String> {
    let body = answer.body.as_ref()?;
    let named = keys.iter().filter_map(|key| first_text(&body[*key])).next();
    named.or(answer.location.as_deref()).map(last_part).filter(|id| !id.is_empty())
}

/// Returns the last part of a URL's path; an id is returned unchanged.
pub(crate) fn last_part(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

fn first_text(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => items.first().and_then(Value::as_str),
        value => value.as_str(),
    }
}
