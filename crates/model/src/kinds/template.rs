use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::remote::{Found, Lifecycle, Read, canonical, id_in, text, time};
use super::{Create, Delete, Parts, Remote, Resource, ReadableText, Update};
use crate::codes::{self, Limit};
use crate::exchange::{Answer, BadAnswer, Request, part};
use crate::nouns::level::Level;
use crate::nouns::push::Content;
use crate::nouns::variable::Variable;
use crate::node::{At, Shared, shape};

shape! {
    /// A stored message with variables that are filled in when it is sent.
    pub struct Template as "a template" {
        /// The name in the dashboard [default: the key].
        name: Option<At<String>>,
        /// A note about its purpose.
        description: Option<At<String>>,
        /// The variables of its texts, written there as `{{KEY}}`.
        variables: Option<Vec<Variable>>,
        /// The content of the message.
        push: Content,
        /// Sample values for its variables, by the name of the sample: `{long: {FIRST_NAME: Maximiliane-Charlotte}}`.
        /// `pushplan preview` and plans show the message with each sample. Never sent to the service.
        #[manifest(only)]
        previews: BTreeMap<At<String>, Sample>,
    }
}

/// Values of variables, by key.
pub type Sample = BTreeMap<At<String>, At<String>>;

impl Resource for Template {
    const KEY: &'static str = "templates";
    const NOUN: &'static str = "template";
    const PURPOSE: &'static str = "A stored message with variables that are filled in when it is sent.";

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
        // The service has no other way to express that there is none.
        self.description.take_if(|description| description.is_empty());
        let variables = self.variables.get_or_insert_default();
        for variable in variables {
            let key = &variable.key;
            variable.name.get_or_insert_with(|| key.clone());
        }
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, description: _, variables, push, previews } = self;
        let Content { notification, message, localizations, locales: _, rest } = push;
        parts.previews.extend(previews);
        parts.said.push(ReadableText {
            notification: Some(notification),
            message: message.as_ref(),
            localizations,
            devices: None,
            variables: Some(variables.as_deref().unwrap_or(&[])),
            borrowed: false,
            campaigns: None,
            rest: Some(rest),
        });
    }
}

impl Remote for Template {
    const SPEAKS: bool = true;

    fn limit(level: Level) -> Option<&'static Limit> {
        (level == Level::Documented).then_some(&codes::AP105)
    }

    fn lifecycle(_: Level) -> Lifecycle {
        Lifecycle { read: Read::Listed, create: Create::Anew, update: Update::InPlace, delete: Delete::Anytime }
    }

    fn list(_: Level) -> Vec<Request> {
        vec![Request::get("/api/templates")]
    }

    fn found(object: &Value) -> Option<Found> {
        let id = object["template_id"].as_str().or(object["id"].as_str())?;
        let name = text(&object["name"]);
        let stamp = object["modified_at"].as_str().map(str::to_owned);
        let (used, made) = (time(&object["last_used"]), time(&object["created_at"]));
        Some(Found { id: id.to_owned(), spec: canonical::<Self>(object, &name), name, stamp, used, made, ..Found::default() })
    }

    fn stamped(stamp: &str) -> Option<Timestamp> {
        time(&Value::from(stamp))
    }

    fn get(id: &str, _: &Value, _: Level) -> Option<Request> {
        Some(Request::get(format!("/api/templates/{}", part(id))))
    }

    fn got(id: &str, _: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let record = body.get("template").unwrap_or(body);
        let found = Self::found(record).ok_or("the answer has no template")?;
        Ok(Some(Found { id: id.to_owned(), ..found }))
    }

    const POSTED_TO: Option<&'static str> = Some("/api/templates");

    fn created(_: &Shared, answer: &Answer) -> Option<String> {
        id_in(answer, &["template_id"])
    }

    /// An update keeps the fields that it leaves out, so it contains all of them. The contract's update has no
    /// variables.
    fn update(id: &str, old: &Value, new: &Value, level: Level) -> Option<Request> {
        let mut body = json!({ "name": new["name"], "description": text(&new["description"]), "push": new["push"] });
        if level >= Level::Extended {
            body["variables"] = new.get("variables").cloned().unwrap_or_else(|| json!([]));
        } else if old.get("variables") != new.get("variables") {
            return None;
        }
        Some(Request::post(format!("/api/templates/{}", part(id)), &body))
    }

    fn delete(id: &str, _: &Value, _: Level) -> Option<Request> {
        Some(Request::delete(format!("/api/templates/{}", part(id))))
    }
}
