//! The content of a notification, and its actions.

use std::collections::BTreeMap;

use super::device::DeviceType;
use super::many::Set;
use crate::node::{At, shape};

shape! {
    /// The notification.
    pub struct Notification as "a notification" text "alert" {
        /// The text of the notification.
        alert: Option<At<String>>,
        /// Actions of a tap on the notification.
        actions: Option<Actions>,
        /// Buttons, from one of the built-in interactive types.
        interactive: Option<Interactive>,
        /// Overrides for browsers.
        web: Option<At<Web>>,
        ..rest known is_override
    }
}

/// Whether a key of a notification overrides it for one kind of device.
pub fn is_override(key: &str) -> bool {
    DeviceType::parse(key).is_some()
}

shape! {
    /// What happens on a tap. Every key is optional.
    pub struct Actions as "actions" or nothing {
        /// Tags added to the device.
        add_tag: Option<Set<At<String>>>,
        /// Tags removed from the device.
        remove_tag: Option<Set<At<String>>>,
        /// Opens a share flow with this text.
        share: Option<At<String>>,
        /// Opens a URL.
        open: Option<OpenAction>,
    }
}

shape! {
    /// A URL to open.
    pub struct OpenAction as "a type and its content" {
        /// `url`, the only type of the contract.
        r#type: At<String>,
        /// The URL.
        content: At<String>,
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

shape! {
    /// What browsers show.
    pub struct Web as "web overrides" or nothing {
        /// The title of the notification.
        title: Option<At<String>>,
        /// The icon of the notification.
        icon: Option<Icon>,
        /// Additional values for the page.
        extra: BTreeMap<At<String>, At<String>>,
    }
}

shape! {
    /// An image, by its address.
    pub struct Icon as "an icon" text "url" {
        /// The address of the image.
        url: At<String>,
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

impl Notification {
    /// Returns every set of actions: that of the notification itself, then those of its buttons.
    pub fn all_actions(&self) -> impl Iterator<Item = &Actions> {
        let buttons = self.interactive.iter().flat_map(|interactive| interactive.button_actions.values());
        self.actions.iter().chain(buttons)
    }

    /// Returns every text that a person reads.
    pub fn texts(&self) -> impl Iterator<Item = &At<String>> {
        let title = self.web.iter().filter_map(|web| web.title.as_ref());
        let shares = self.all_actions().filter_map(|actions| actions.share.as_ref());
        self.alert.iter().chain(title).chain(shares)
    }

    /// Returns every URL that is opened or loaded: those of the actions, then the icon.
    pub fn urls(&self) -> impl Iterator<Item = &At<String>> {
        let opened = self.all_actions().filter_map(|actions| actions.open.as_ref()).map(|open| &open.content);
        let icon = self.web.iter().filter_map(|web| web.icon.as_ref()).map(|icon| &icon.url);
        opened.chain(icon)
    }

    /// Returns every text that can contain a placeholder.
    pub fn fillable(&self) -> impl Iterator<Item = &At<String>> {
        let extra = self.web.iter().flat_map(|web| web.extra.values());
        let tags = self.all_actions().flat_map(|actions| actions.add_tag.iter().chain(&actions.remove_tag).flatten());
        self.texts().chain(self.urls()).chain(extra).chain(tags)
    }

    /// Replaces every text that can contain a placeholder.
    pub fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        self.rest.map_texts(change);
        let change = |text: &mut At<String>| text.value = change(text);
        self.alert.iter_mut().for_each(change);
        if let Some(web) = &mut self.web {
            web.title.iter_mut().for_each(change);
            web.icon.iter_mut().for_each(|icon| change(&mut icon.url));
            web.extra.values_mut().for_each(change);
        }
        let buttons = self.interactive.iter_mut().flat_map(|interactive| interactive.button_actions.values_mut());
        for actions in self.actions.iter_mut().chain(buttons) {
            actions.share.iter_mut().for_each(change);
            actions.open.iter_mut().for_each(|open| change(&mut open.content));
            actions.add_tag.iter_mut().chain(&mut actions.remove_tag).flatten().for_each(change);
        }
    }
}
