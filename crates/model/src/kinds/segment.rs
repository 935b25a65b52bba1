use jiff::Timestamp;
use serde_json::Value;

use super::remote::{Found, Lifecycle, Read, canonical, id_in, text};
use super::{Audience, Create, Delete, Parts, Remote, Resource, Role, Update};
use crate::codes::{self, Limit};
use crate::exchange::{Answer, BadAnswer, Request, part};
use crate::nouns::audience::Selector;
use crate::nouns::level::Level;
use crate::node::{At, Shared, shape};

shape! {
    /// A stored audience that others can name.
    pub struct Segment as "a segment" {
        /// The name in the dashboard [default: the key].
        display_name: Option<At<String>>,
        /// The conditions for its members.
        criteria: At<Selector>,
    }
}

impl Resource for Segment {
    const KEY: &'static str = "segments";
    const NOUN: &'static str = "segment";
    const PURPOSE: &'static str = "A stored audience for pushes and other segments.";

    fn settle(&mut self, key: &At<String>) {
        self.display_name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { display_name: _, criteria } = self;
        parts.audiences.push(Audience { selector: criteria, devices: None, role: Role::Criteria });
    }
}

impl Remote for Segment {
    const AUDIENCES: &'static [&'static str] = &["/criteria"];
    const NAME: &'static str = "display_name";

    fn limit(level: Level) -> Option<&'static Limit> {
        (level == Level::Documented).then_some(&codes::AP101)
    }

    fn lifecycle(level: Level) -> Lifecycle {
        let update = if level >= Level::Extended { Update::InPlace } else { Update::Replacing };
        Lifecycle { read: Read::ListedThenGet, create: Create::Anew, update, delete: Delete::Anytime }
    }

    fn list(_: Level) -> Vec<Request> {
        vec![Request::get("/api/segments")]
    }

    fn found(object: &Value) -> Option<Found> {
        let stamp = Some(&object["modification_date"]).filter(|stamp| !stamp.is_null()).map(Value::to_string);
        let id = object["id"].as_str().or(object["segment_id"].as_str())?;
        let made = object["creation_date"].as_i64().and_then(|at| Timestamp::from_millisecond(at).ok());
        Some(Found { id: id.to_owned(), name: text(&object["display_name"]), stamp, made, ..Found::default() })
    }

    fn stamped(stamp: &str) -> Option<Timestamp> {
        Timestamp::from_millisecond(stamp.parse().ok()?).ok()
    }

    fn get(id: &str, _: &Value, _: Level) -> Option<Request> {
        Some(Request::get(format!("/api/segments/{}", part(id))))
    }

    fn got(id: &str, _: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let name = text(&body["display_name"]);
        let spec = canonical::<Self>(body, &name).ok_or("the segment's criteria cannot be read")?;
        Ok(Some(Found { id: id.to_owned(), name, stamp: None, spec: Some(spec), ..Found::default() }))
    }

    const POSTED_TO: Option<&'static str> = Some("/api/segments");

    fn created(_: &Shared, answer: &Answer) -> Option<String> {
        id_in(answer, &["segment_id"])
    }

    fn update(id: &str, _: &Value, new: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::put(format!("/api/segments/{}", part(id)), new))
    }

    fn delete(id: &str, _: &Value, _: Level) -> Option<Request> {
        Some(Request::delete(format!("/api/segments/{}", part(id))))
    }
}
