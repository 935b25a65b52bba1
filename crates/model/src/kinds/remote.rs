//! What the service's API lets one do with a kind: stated by each kind as data and pure requests, chosen from by the planner.

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
use crate::exchange::{Answer, Method, Request};
use crate::node::{At, Node, Reader, Shared};
use crate::nouns::level::Level;
use crate::source::Span;

/// A thing on the service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub id: String,
    /// What people call it there. Two may have one name.
    pub name: String,
    /// Moves whenever it is changed, where the service tells.
    pub stamp: Option<String>,
    /// Its content in canonical form, segments by their ids; `None` where it is still to be read.
    pub spec: Option<Shared>,
    /// When it was last used, where the service tells.
    pub used: Option<Timestamp>,
    /// When it was made, where the service tells.
    pub made: Option<Timestamp>,
    /// The ids of the pushes that it sends, where the service tells.
    pub push_ids: Vec<String>,
}

/// The part of a kind that its author writes about the API. Specs are in canonical form; those of requests name segments
/// by their ids, as the wire does.
pub trait Remote: Resource {
    /// Where its audiences are in a spec.
    const AUDIENCES: &'static [&'static str] = &[];
    /// The key of a listing's items.
    const LISTED: &'static str = Self::KEY;
    /// The field with the name that the service knows it by.
    const NAME: &'static str = "name";
    /// Whether its key is what the service knows it by, so that it has no field for that: another key is another thing.
    const NAMED_BY_KEY: bool = false;

    /// Whether things of the kind message people by themselves: whether `runs` ever says something.
    const HAS_RUNS: bool = false;

    /// Whether things of the kind say something to people, by themselves or once something sets them off.
    const SPEAKS: bool = false;

    /// What there is one of for each person, in the plural, where that is not the kind itself.
    const SINGLES: Option<&'static str> = None;

    fn lifecycle(level: Level) -> Lifecycle;

    /// What the API does not allow, which is why a change of it is made otherwise.
    fn limit(_level: Level) -> Option<&'static Limit> {
        None
    }

    /// The single things that it is applied as, each with its key and spec.
    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        vec![(key.to_owned(), Shared::of(self))]
    }

    /// The resource that is made of these single things: the inverse of `units`. Null where there is none without them.
    fn whole(units: &[&Value]) -> Value {
        units.first().map(|unit| (*unit).clone()).unwrap_or_default()
    }

    /// The lists of people and devices that show what there is one of for each of them.
    fn census() -> Vec<Census> {
        Vec::new()
    }

    /// What an item of such a list has of this kind.
    fn counted(_item: &Value) -> Vec<Counted> {
        Vec::new()
    }

    /// The requests that list all of them; the same thing may be in several answers.
    fn list(_level: Level) -> Vec<Request> {
        Vec::new()
    }

    /// Whether a listing with so many items is known to be whole.
    fn is_whole(_items: usize) -> bool {
        true
    }

    /// Whether a listing no longer shows it once it was sent.
    fn leaves_list_when_sent() -> bool {
        false
    }

    /// An item of a listing.
    fn found(_object: &Value) -> Option<Found> {
        None
    }

    /// The time of the change that a version stamp stands for, where it tells.
    fn stamped(_stamp: &str) -> Option<Timestamp> {
        None
    }

    /// The request that reads one. Where there is no listing, its spec says where to look.
    fn get(_id: &str, _spec: &Value, _level: Level) -> Option<Request> {
        None
    }

    /// What `get` found, with what was last known of it; `Ok(None)`: it is not there; `Err`: the answer makes no sense.
    fn got(_id: &str, _known: &Value, _body: &Value) -> Result<Option<Found>, String> {
        Ok(None)
    }

    /// The id that it will have, where that is ours to choose.
    fn own_id(_spec: &Value) -> Option<String> {
        None
    }

    /// What it is on the service, where that is ours to choose: of two with the same, each is the other.
    fn identity(spec: &Value) -> Option<String> {
        Self::own_id(spec)
    }

    /// Where the spec of a new one is posted to as it is; `None` where its request is another.
    const POSTED_TO: Option<&'static str> = None;

    fn create(spec: &Value) -> Request {
        Request::post(Self::POSTED_TO.unwrap_or_default(), spec)
    }

    /// The id of what was created.
    fn created(spec: &Shared, answer: &Answer) -> Option<String>;

    /// The request that turns one spec into another; `None` where that cannot be done in place.
    fn update(_id: &str, _old: &Value, _new: &Value, _level: Level) -> Option<Request> {
        None
    }

    fn delete(_id: &str, _old: &Value, _level: Level) -> Option<Request> {
        None
    }

    /// When it begins to message people by itself, and when it has ended; `None` where it does not do so.
    fn runs(_spec: &Value) -> Option<Runs> {
        None
    }

    /// The times at which it sends by itself, each of which is a push of its own and is reported by itself.
    fn occasions(spec: &Value) -> Vec<Runs> {
        Self::runs(spec).into_iter().collect()
    }

    /// Each time at which it messages people by itself.
    fn times(spec: &Value) -> Vec<Runs> {
        Self::occasions(spec)
    }

    /// The list in its spec of what has a time each, in the order of `times`.
    const TIMED: Option<&'static str> = None;

    /// The ids of the pushes that it sends, in the answer to a request or in an item of a listing: one for each occasion, in
    /// their order.
    fn push_ids(_object: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The tags that someone gets or loses where one spec becomes another, comes or goes.
    fn taggings(_old: Option<&Shared>, _new: Option<&Shared>) -> Vec<Tagging> {
        Vec::new()
    }

    /// The channel that comes to a named user, or that they lose, where one spec becomes another, comes or goes.
    fn belonging(_old: Option<&Shared>, _new: Option<&Shared>) -> Option<Belonging> {
        None
    }

    /// The channel that receives nothing any more where one spec becomes another or goes.
    fn departing(_old: Option<&Shared>, _new: Option<&Shared>) -> Option<Whose> {
        None
    }

    /// The named user who has other devices once it is made, changed or deleted.
    fn devices_of(_spec: &Shared) -> Option<String> {
        None
    }

    /// What a tag sets off; `None` where none does, or while it is turned off.
    fn firing(_spec: &Value) -> Option<Firing> {
        None
    }

    /// Whether it does nothing any more, so that another can replace it.
    fn is_off(_spec: &Value) -> bool {
        false
    }

    /// Whether it messages people, by itself or once something sets it off: two that say the same would do so twice.
    fn messages(_spec: &Value) -> bool {
        Self::HAS_RUNS
    }

    /// Whether its deletion takes it from every device that has it, whoever gave it to them.
    fn leaves_devices(_spec: &Value) -> bool {
        false
    }
}

/// [`Remote`] for whoever has a kind as a row of the table.
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
    fn got(&self, id: &str, known: &Value, body: &Value) -> Result<Option<Found>, String>;
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
    /// What is left of a spec without those of its times that are gone; nothing where all are.
    fn without(&self, spec: &Value, is_gone: &dyn Fn(&Runs) -> bool) -> Option<Value>;
    fn push_ids(&self, object: &Value) -> Vec<String>;
    fn taggings(&self, old: Option<&Shared>, new: Option<&Shared>) -> Vec<Tagging>;
    fn belonging(&self, old: Option<&Shared>, new: Option<&Shared>) -> Option<Belonging>;
    fn departing(&self, old: Option<&Shared>, new: Option<&Shared>) -> Option<Whose>;
    fn devices_of(&self, spec: &Shared) -> Option<String>;
    fn firing(&self, spec: &Value) -> Option<Firing>;
    fn is_off(&self, spec: &Value) -> bool;
    fn leaves_devices(&self, spec: &Value) -> bool;
    /// Its name on the service.
    fn name(&self, spec: &Value) -> String;
    /// Returns the name that the service knows it by, without parsing the rest of the spec.
    fn called(&self, spec: &Shared) -> String;
    /// Whether it messages people by itself, or may.
    fn has_runs(&self) -> bool;
    /// Whether it says something to people.
    fn speaks(&self) -> bool;
    fn messages(&self, spec: &Value) -> bool;
    /// The field with that name; `None` where it is its key.
    fn name_field(&self) -> Option<&'static str>;
    /// A spec as the resource that it says, segments by their keys; `None` where it is only a part of one.
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
    fn got(&self, id: &str, known: &Value, body: &Value) -> Result<Option<Found>, String> {
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

/// The contract's form: what may be one or many is alone where it is one.
fn wire<R: Resource>(spec: &Value) -> Cow<'_, Value> {
    let mut wire = Cow::Borrowed(spec);
    for key in R::ONE_OR_MANY {
        if let Some([one]) = spec.get(*key).and_then(Value::as_array).map(Vec::as_slice) {
            wire.to_mut()[*key] = one.clone();
        }
    }
    wire
}

/// An object of the service in canonical form; `None` where it cannot be understood. Keys that the service added are left out.
pub fn canonical<R: Resource>(object: &Value, name: &str) -> Option<Shared> {
    let mut read = R::decode(&Node::from_json_value(object), &mut Reader::lenient())?;
    read.settle(&At::new(name.to_owned(), Span::NONE));
    Some(Shared::of(&read))
}

/// A time that the service tells, in UTC where it names no zone.
pub fn time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    text.parse().ok().or_else(|| format!("{text}Z").parse().ok())
}

/// An id in an answer's body under one of several keys, or at the end of a URL in it or in the header.
pub(crate) fn id_in(answer: &Answer, keys: &[&str]) -> Option<String> {
    let body = answer.body.as_ref()?;
    let named = keys.iter().filter_map(|key| first_text(&body[*key])).next();
    named.or(answer.location.as_deref()).map(last_part).filter(|id| !id.is_empty())
}

/// The last part of a URL's path; an id is its own last part.
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
