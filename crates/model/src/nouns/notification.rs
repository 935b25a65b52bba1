//! The content of a notification.

use super::device::DeviceType;
use super::overrides::{Amazon, Android, Ios, OpenOverrides, Override, Overrides, Platform, Web};
use crate::node::{At, Rest, shape};
use crate::source::Span;

pub use super::actions::{
    Actions, DEEP_LINK, INTERACTIVE_TYPES, Interactive, InteractiveType, LANDING_PAGE, LandingPage, OpenAction,
    OpenContent, URL,
};

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
        /// Overrides for iPhones and iPads. Only at API level `extended`.
        ios: Option<Platform<Ios>>,
        /// Overrides for Android devices. Only at API level `extended`.
        android: Option<Platform<Android>>,
        /// Overrides for Amazon devices. Only at API level `extended`.
        amazon: Option<Platform<Amazon>>,
        +open: Platform<OpenOverrides> as "open::" "Overrides for an open channel platform. Only at API level `extended`.",
        ..rest known is_override
    }
}

/// Whether a key of a notification overrides it for one kind of device.
pub fn is_override(key: &str) -> bool {
    DeviceType::parse(key).is_some()
}

/// The parts of a notification that one kind of device gets.
#[derive(Clone, Copy, Debug)]
pub struct Effective<'n> {
    pub alert: Option<&'n At<String>>,
    pub title: Option<&'n At<String>>,
    pub subtitle: Option<&'n At<String>>,
    pub summary: Option<&'n At<String>>,
    pub actions: Option<&'n Actions>,
    pub interactive: Option<&'n Interactive>,
}

impl Notification {
    /// Returns the overrides of every platform that has some.
    pub fn overrides(&self) -> impl Iterator<Item = (DeviceType, Override<'_>)> {
        let ios = self.ios.iter().map(|ios| (DeviceType::Ios, ios.shown()));
        let android = self.android.iter().map(|android| (DeviceType::Android, android.shown()));
        let amazon = self.amazon.iter().map(|amazon| (DeviceType::Amazon, amazon.shown()));
        let web = self.web.iter().map(|web| (DeviceType::Web, web.shown()));
        let open = self.open.iter().filter_map(|(key, open)| Some((DeviceType::parse(key)?, open.shown())));
        ios.chain(android).chain(amazon).chain(web).chain(open)
    }

    /// Returns the parts that one kind of device gets: its own ones, or else the common ones.
    pub fn on(&self, device: &DeviceType) -> Effective<'_> {
        let own = match device {
            DeviceType::Ios => self.ios.as_ref().map(|ios| ios.shown()),
            DeviceType::Android => self.android.as_ref().map(|android| android.shown()),
            DeviceType::Amazon => self.amazon.as_ref().map(|amazon| amazon.shown()),
            DeviceType::Web => self.web.as_ref().map(|web| web.shown()),
            DeviceType::Open(_) if self.open.is_empty() => None,
            DeviceType::Open(_) => self.overrides().find(|(own, _)| own == device).map(|(_, shown)| shown),
            DeviceType::Wns => None,
        };
        let Override { alert, title, subtitle, summary, actions, interactive, .. } = own.unwrap_or_default();
        Effective {
            alert: alert.or(self.alert.as_ref()),
            title,
            subtitle,
            summary,
            actions: actions.or(self.actions.as_ref()),
            interactive: interactive.or(self.interactive.as_ref()),
        }
    }

    /// Returns every set of actions: that of the notification itself, those of its buttons, and those of overrides.
    pub fn all_actions(&self) -> impl Iterator<Item = &Actions> {
        let own = self.overrides().flat_map(|(_, shown)| shown.all_actions());
        self.common_actions().chain(own)
    }

    fn common_actions(&self) -> impl Iterator<Item = &Actions> {
        let buttons = self.interactive.iter().flat_map(|interactive| interactive.button_actions.values());
        self.actions.iter().chain(buttons)
    }

    /// Returns every set of buttons: that of the notification itself, and those of overrides.
    pub fn all_interactive(&self) -> impl Iterator<Item = &Interactive> {
        self.interactive.iter().chain(self.overrides().filter_map(|(_, shown)| shown.interactive))
    }

    /// Returns every text that is shown at once: the text and the titles.
    pub fn heads(&self) -> impl Iterator<Item = &At<String>> {
        let own = self.overrides().flat_map(|(_, shown)| shown.heads());
        self.alert.iter().chain(own.filter_map(|(_, text)| text))
    }

    /// Returns every text that a person reads.
    pub fn texts(&self) -> impl Iterator<Item = &At<String>> {
        let own = self.overrides().flat_map(|(_, shown)| shown.texts());
        let read = self.all_actions().flat_map(|actions| actions.share.as_ref().into_iter().chain(actions.page()));
        self.alert.iter().chain(own).chain(read)
    }

    /// Returns every URL that is opened or loaded: those of the actions, then the images.
    pub fn urls(&self) -> impl Iterator<Item = &At<String>> {
        let opened = self.all_actions().filter_map(|actions| match &actions.open.as_ref()?.content {
            OpenContent::Text(text) => Some(text),
            OpenContent::Page(_) => None,
        });
        opened.chain(self.overrides().flat_map(|(_, shown)| shown.urls.into_iter().chain(shown.pictures)))
    }

    /// Returns every text that can contain a placeholder.
    pub fn fillable(&self) -> impl Iterator<Item = &At<String>> {
        let values = self.overrides().flat_map(|(_, shown)| shown.values);
        let tags = self.all_actions().flat_map(|actions| actions.add_tag.iter().chain(&actions.remove_tag).flatten());
        self.texts().chain(self.urls()).chain(values).chain(tags)
    }

    /// Returns the maps with free values, which can contain placeholders as well.
    pub fn free(&self) -> impl Iterator<Item = &Rest> {
        let own = self.overrides().flat_map(|(_, shown)| shown.free);
        let of_app = self.all_actions().map(|actions| &actions.app_defined);
        let pages = self.all_actions().filter_map(|actions| match &actions.open.as_ref()?.content {
            OpenContent::Page(page) => Some(&page.rest),
            OpenContent::Text(_) => None,
        });
        std::iter::once(&self.rest).chain(own).chain(of_app).chain(pages)
    }

    /// Replaces every text that can contain a placeholder.
    pub fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { alert, actions, interactive, web, ios, android, amazon, open, rest } = self;
        alert.iter_mut().for_each(|text| text.value = change(text));
        let buttons = interactive.iter_mut().flat_map(|interactive| interactive.button_actions.values_mut());
        actions.iter_mut().chain(buttons).for_each(|actions| actions.map_texts(change));
        web.iter_mut().for_each(|web| web.value.map_texts(change));
        ios.iter_mut().for_each(|ios| ios.map_texts(change));
        android.iter_mut().for_each(|android| android.map_texts(change));
        amazon.iter_mut().for_each(|amazon| amazon.map_texts(change));
        open.values_mut().for_each(|open| open.map_texts(change));
        rest.map_texts(change);
    }

    /// Returns the parts that only the extended API has, each in words and with its position.
    pub fn extended(&self) -> Vec<(String, Span)> {
        let named = [
            ("ios", self.ios.as_ref().map(|ios| ios.0.span)),
            ("android", self.android.as_ref().map(|android| android.0.span)),
            ("amazon", self.amazon.as_ref().map(|amazon| amazon.0.span)),
        ];
        let named = named.into_iter().filter_map(|(name, at)| Some((format!("`{name}`"), at?)));
        let open = self.open.keys().map(|key| (format!("`{}`", crate::text::short(key, 40)), key.span));
        let web = self.web.iter().flat_map(|web| {
            let fields = web.extended().into_iter();
            fields.map(|(name, at)| (format!("`web.{name}`"), at.unwrap_or(web.span)))
        });
        let actions = self.common_actions().flat_map(|actions| {
            let open = actions.open.iter().filter(|open| [DEEP_LINK, LANDING_PAGE].contains(&open.r#type.as_str()));
            let open = open.map(|open| (format!("`type: {}`", *open.r#type), open.r#type.span));
            let first = actions.app_defined.0.keys().map(|key| key.span).min();
            open.chain(first.map(|at| ("`app_defined`".to_owned(), at)))
        });
        named.chain(open).chain(web).chain(actions).collect()
    }
}
