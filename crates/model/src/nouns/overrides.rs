//! What a notification says or does differently on one kind of device.

mod shown;
mod values;

pub use shown::{Override, Overrides};
pub use values::{
    AndroidPriority, Badge, Color, DeliveryPriority, Expiry, InterruptionLevel, IosPriority, Relevance, StyleType,
    TimeToLive, Visibility,
};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::actions::{Actions, Interactive};
use crate::node::{At, Decode, MapEntry, Node, Reader, Rest, Tree, owner_of, shape};

shape! {
    /// What iPhones and iPads show.
    pub struct Ios as "overrides for ios" or nothing text "alert" {
        /// The text, instead of the common one.
        alert: Option<At<String>>,
        /// The title, above the text.
        title: Option<At<String>>,
        /// The second line, between the title and the text.
        subtitle: Option<At<String>>,
        /// The number on the app's icon: a number, `auto`, or a step such as `"+1"` or `"-1"`.
        badge: Option<Badge>,
        /// The name of a sound of the app.
        sound: Option<At<String>>,
        /// The category, which decides about the buttons.
        category: Option<At<String>>,
        /// Groups notifications with the same value.
        thread_id: Option<At<String>>,
        /// Replaces the notification with the same value.
        collapse_id: Option<At<String>>,
        /// When it expires if it was not delivered: a number of seconds, or a time in UTC.
        expiry: Option<At<Expiry>>,
        /// How much it interrupts.
        interruption_level: Option<At<InterruptionLevel>>,
        /// Its place in a summary, from 0 to 1.
        relevance_score: Option<At<Relevance>>,
        /// An image, a video or a sound.
        media_attachment: Option<MediaAttachment>,
        /// Wakes the app in the background.
        content_available: Option<At<bool>>,
        /// Lets the app change the notification before it is shown.
        mutable_content: Option<At<bool>>,
        /// `10` delivers at once, `5` when it saves power.
        priority: Option<At<IosPriority>>,
        /// Additional values for the app.
        extra: Rest,
        /// Actions of a tap, instead of the common ones.
        actions: Option<Actions>,
        /// Buttons, instead of the common ones.
        interactive: Option<Interactive>,
        ..rest
    }
}

shape! {
    /// What Android devices show.
    pub struct Android as "overrides for android" or nothing text "alert" {
        /// The text, instead of the common one.
        alert: Option<At<String>>,
        /// The title, above the text.
        title: Option<At<String>>,
        /// A line below the text.
        summary: Option<At<String>>,
        /// The name of an icon of the app.
        icon: Option<At<String>>,
        /// The colour of the icon, such as `"#ff8800"`.
        icon_color: Option<At<Color>>,
        /// The name of a sound of the app.
        sound: Option<At<String>>,
        /// What an expanded notification shows.
        style: Option<ExpandedStyle>,
        /// The id of the channel that decides how it is shown.
        notification_channel: Option<At<String>>,
        /// Replaces the notification with the same value.
        notification_tag: Option<At<String>>,
        /// Replaces an undelivered notification with the same value.
        collapse_key: Option<At<String>>,
        /// The category, such as `promo`.
        category: Option<At<String>>,
        /// The priority, from -2 to 2.
        priority: Option<At<AndroidPriority>>,
        /// What a locked device shows: -1 nothing, 0 the app, 1 everything.
        visibility: Option<At<Visibility>>,
        /// How soon a sleeping device gets it.
        delivery_priority: Option<At<DeliveryPriority>>,
        /// For how many seconds the service tries to deliver it.
        time_to_live: Option<At<TimeToLive>>,
        /// Additional values for the app.
        extra: BTreeMap<At<String>, At<String>>,
        /// Actions of a tap, instead of the common ones.
        actions: Option<Actions>,
        /// Buttons, instead of the common ones.
        interactive: Option<Interactive>,
        ..rest
    }
}

shape! {
    /// What Amazon devices show.
    pub struct Amazon as "overrides for amazon" or nothing text "alert" {
        /// The text, instead of the common one.
        alert: Option<At<String>>,
        /// The title, above the text.
        title: Option<At<String>>,
        /// A line below the text.
        summary: Option<At<String>>,
        /// Replaces an undelivered notification with the same value.
        consolidation_key: Option<At<String>>,
        /// When it expires if it was not delivered: a number of seconds, or a time in UTC.
        expires_after: Option<At<Expiry>>,
        /// What an expanded notification shows.
        style: Option<ExpandedStyle>,
        /// Additional values for the app.
        extra: BTreeMap<At<String>, At<String>>,
        /// Actions of a tap, instead of the common ones.
        actions: Option<Actions>,
        /// Buttons, instead of the common ones.
        interactive: Option<Interactive>,
        ..rest
    }
}

shape! {
    /// What an open channel platform gets.
    pub struct OpenOverrides as "overrides for an open channel platform" or nothing text "alert" {
        /// The text, instead of the common one.
        alert: Option<At<String>>,
        /// The title, above the text.
        title: Option<At<String>>,
        /// A line below the text.
        summary: Option<At<String>>,
        /// An image, a video or a sound: its address, or a map with `url`.
        media_attachment: Option<OpenMedia>,
        /// Additional values for the platform.
        extra: BTreeMap<At<String>, At<String>>,
        /// Actions of a tap, instead of the common ones.
        actions: Option<Actions>,
        /// Buttons, instead of the common ones.
        interactive: Option<Interactive>,
        ..rest
    }
}

shape! {
    /// What browsers show.
    pub struct Web as "web overrides" or nothing {
        /// The title of the notification.
        title: Option<At<String>>,
        /// The icon of the notification.
        icon: Option<Icon>,
        /// Additional values for the page.
        extra: BTreeMap<At<String>, At<String>>,
        /// The text, instead of the common one.
        alert: Option<At<String>>,
        /// A large image.
        image: Option<Icon>,
        /// Buttons below the text.
        buttons: Option<Vec<WebButton>>,
        /// Whether it stays until it is tapped or closed.
        require_interaction: Option<At<bool>>,
        /// For how many seconds the service tries to deliver it.
        time_to_live: Option<At<TimeToLive>>,
        /// Actions of a tap, instead of the common ones.
        actions: Option<Actions>,
        /// Buttons of a built-in interactive type, instead of the common ones.
        interactive: Option<Interactive>,
    }
}

shape! {
    /// An image, by its address.
    pub struct Icon as "an icon" text "url" {
        /// The address of the image.
        url: At<String>,
    }
}

shape! {
    /// A button of a browser's notification.
    pub struct WebButton as "a button" text "id" {
        /// The name of the button in reports.
        id: At<String>,
        /// The text on the button [default: the id].
        label: Option<At<String>>,
        /// What the button does.
        actions: Option<Actions>,
        ..rest
    }
}

shape! {
    /// What an expanded notification shows.
    pub struct ExpandedStyle as "a style" text "type" {
        /// `big_text`, `big_picture` or `inbox`.
        r#type: At<StyleType>,
        /// The title of the expanded notification.
        title: Option<At<String>>,
        /// The line below its content.
        summary: Option<At<String>>,
        /// The text, for `big_text`.
        big_text: Option<At<String>>,
        /// The address of the image, for `big_picture`.
        big_picture: Option<At<String>>,
        /// The lines, for `inbox`.
        lines: Option<Vec<At<String>>>,
        ..rest
    }
}

shape! {
    /// An image, a video or a sound in a notification.
    pub struct MediaAttachment as "a media attachment" text "url" {
        /// Its address.
        url: At<String>,
        /// Texts that are shown with it.
        content: Option<MediaContent>,
        ..rest
    }
}

shape! {
    /// Texts that are shown with an attachment.
    pub struct MediaContent as "the texts of an attachment" or nothing text "body" {
        /// The title.
        title: Option<At<String>>,
        /// The second line.
        subtitle: Option<At<String>>,
        /// The text.
        body: Option<At<String>>,
        ..rest
    }
}

/// The attachment of an open channel platform, which may be its address alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OpenMedia {
    Url(At<String>),
    Map(MediaAttachment),
}

impl Decode for OpenMedia {
    const WHAT: &'static str = MediaAttachment::WHAT;
    const FIELDS: &'static [&'static str] = MediaAttachment::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            Tree::Scalar(_) => At::decode(node, reader).map(Self::Url),
            _ => MediaAttachment::decode(node, reader).map(Self::Map),
        }
    }
}

impl JsonSchema for OpenMedia {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "OpenMedia".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<MediaAttachment>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, map] })
    }
}

/// The overrides for one platform, with the position of their first key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Platform<T>(pub At<T>);

impl<T> Deref for Platform<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> DerefMut for Platform<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}

impl<T: Overrides> Decode for Platform<T> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let read = T::decode(node, reader);
        let read = if reader.is_lenient() { read.or_else(|| understood(node)) } else { read };
        read.map(|value| Self(At::new(value, owner_of(node))))
    }
    fn is_absent(&self) -> bool {
        self.0.value.is_absent()
    }
}

/// Reads overrides of a service that has more forms of some fields: these are passed through.
fn understood<T: Overrides>(node: &Node) -> Option<T> {
    let read =
        |entries: Vec<MapEntry>| T::decode(&Node { span: node.span, tree: Tree::Map(entries) }, &mut Reader::lenient());
    let (known, others): (Vec<MapEntry>, Vec<MapEntry>) =
        node.entries()?.iter().cloned().partition(|entry| read(vec![entry.clone()]).is_some());
    let mut value = read(known)?;
    value.rest_mut().0.extend(others.into_iter().map(|MapEntry { key, value }| (key, value.to_json())));
    Some(value)
}

impl<T: JsonSchema> JsonSchema for Platform<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
