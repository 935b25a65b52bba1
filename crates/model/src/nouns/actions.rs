//! Actions of a tap on a notification, and its buttons.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::many::Set;
use super::message::ContentType;
use crate::node::{At, Decode, Node, Reader, Rest, shape};

shape! {
    /// What happens on a tap. Every key is optional.
    pub struct Actions as "actions" or nothing {
        /// Tags added to the device.
        add_tag: Option<Set<At<String>>>,
        /// Tags removed from the device.
        remove_tag: Option<Set<At<String>>>,
        /// Opens a share flow with this text.
        share: Option<At<String>>,
        /// Opens a URL, a place in the app, or a page.
        open: Option<OpenAction>,
        /// Values for the app's own actions. Only at API level `extended`.
        app_defined: Rest,
    }
}

shape! {
    /// Something to open.
    pub struct OpenAction as "a type and its content" {
        /// `url`, the only type of the contract. At API level `extended` also `deep_link` and `landing_page`.
        r#type: At<String>,
        /// The URL, the deep link such as `shop://sale`, or the landing page.
        content: OpenContent,
    }
}

/// The type of `open` that the contract has.
pub const URL: &str = "url";
/// The type of `open` for a place in the app.
pub const DEEP_LINK: &str = "deep_link";
/// The type of `open` for a page that comes with the notification.
pub const LANDING_PAGE: &str = "landing_page";

/// The content of `open`: an address, or the page itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OpenContent {
    Text(At<String>),
    Page(LandingPage),
}

impl OpenContent {
    /// The address, or the body of the page.
    pub fn text(&self) -> &At<String> {
        match self {
            Self::Text(text) => text,
            Self::Page(page) => &page.body,
        }
    }
}

impl Decode for OpenContent {
    const WHAT: &'static str = String::WHAT;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.get("body") {
            Some(_) => LandingPage::decode(node, reader).map(Self::Page),
            None => At::decode(node, reader).map(Self::Text),
        }
    }
}

impl JsonSchema for OpenContent {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "OpenContent".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, generator.subschema_for::<LandingPage>()] })
    }
}

shape! {
    /// A page that comes with the notification.
    pub struct LandingPage as "a page" {
        /// The content, in the type of `content_type`.
        body: At<String>,
        /// The MIME type of the body [default: text/html].
        content_type: Option<At<ContentType>>,
        ..rest
    }
}

shape! {
    /// Buttons below the notification.
    pub struct Interactive as "an interactive type and its buttons" {
        /// One of the built-in types: `ua_follow`, `ua_unfollow`, `ua_remind_me_later`.
        r#type: At<String>,
        /// The actions of each button, by the button's name.
        button_actions: BTreeMap<At<String>, Actions>,
    }
}

/// A built-in interactive type: its name, its button, the text on the button, and its purpose.
#[derive(Debug)]
pub struct InteractiveType {
    pub name: &'static str,
    pub button: &'static str,
    pub label: &'static str,
    pub purpose: &'static str,
}

/// The interactive types of the contract.
pub static INTERACTIVE_TYPES: &[InteractiveType] = &[
    InteractiveType {
        name: "ua_follow",
        button: "follow",
        label: "Follow",
        purpose: "add_tag: a tag relevant to the story",
    },
    InteractiveType { name: "ua_unfollow", button: "unfollow", label: "Unfollow", purpose: "remove_tag: the same tag" },
    InteractiveType {
        name: "ua_remind_me_later",
        button: "remind",
        label: "Remind me later",
        purpose: "add_tag: a tag that starts a pipeline",
    },
];

impl Actions {
    /// Replaces every text that can contain a placeholder.
    pub(super) fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { add_tag, remove_tag, share, open, app_defined } = self;
        app_defined.map_texts(change);
        let fill = |text: &mut At<String>| text.value = change(text);
        share.iter_mut().for_each(fill);
        add_tag.iter_mut().chain(remove_tag).flatten().for_each(fill);
        match open.as_mut().map(|open| &mut open.content) {
            Some(OpenContent::Text(text)) => fill(text),
            Some(OpenContent::Page(page)) => {
                fill(&mut page.body);
                page.rest.map_texts(change);
            }
            None => {}
        }
    }
}

impl Actions {
    /// The body of the page that a tap opens.
    pub(super) fn page(&self) -> Option<&At<String>> {
        match &self.open.as_ref()?.content {
            OpenContent::Page(page) => Some(&page.body),
            OpenContent::Text(_) => None,
        }
    }
}
