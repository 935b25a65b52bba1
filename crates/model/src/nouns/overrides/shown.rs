//! Overrides of every platform in one form, and their texts.

use super::{Amazon, Android, Badge, ExpandedStyle, Ios, MediaAttachment, MediaContent, OpenMedia, OpenOverrides, Web};
use crate::node::{At, Decode, Rest};
use crate::nouns::actions::{Actions, Interactive};
use crate::source::Span;

/// The overrides of one platform, whichever it is. Fields that it does not have are empty.
#[derive(Debug, Default)]
pub struct Override<'n> {
    pub alert: Option<&'n At<String>>,
    pub title: Option<&'n At<String>>,
    pub subtitle: Option<&'n At<String>>,
    pub summary: Option<&'n At<String>>,
    pub actions: Option<&'n Actions>,
    pub interactive: Option<&'n Interactive>,
    /// The platform's own buttons: the text on each, and its actions.
    pub buttons: Vec<(&'n At<String>, Option<&'n Actions>)>,
    /// Further texts that a person reads.
    pub further: Vec<&'n At<String>>,
    /// Images, videos and sounds that come with it, by their addresses.
    pub pictures: Vec<&'n At<String>>,
    /// Further addresses that are loaded.
    pub urls: Vec<&'n At<String>>,
    /// Other texts that can contain a placeholder.
    pub values: Vec<&'n At<String>>,
    /// Maps with free values.
    pub free: Vec<&'n Rest>,
}

impl<'n> Override<'n> {
    /// The text, the title, the subtitle and the summary, each with its name.
    pub fn heads(&self) -> [(&'static str, Option<&'n At<String>>); 4] {
        [("alert", self.alert), ("title", self.title), ("subtitle", self.subtitle), ("summary", self.summary)]
    }

    /// Every text that a person reads, without those of actions.
    pub fn texts(&self) -> Vec<&'n At<String>> {
        let heads = self.heads().into_iter().filter_map(|(_, text)| text);
        heads.chain(self.further.iter().copied()).chain(self.buttons.iter().map(|(label, _)| *label)).collect()
    }

    /// The actions of a tap and of all buttons.
    pub fn all_actions(&self) -> Vec<&'n Actions> {
        let interactive = self.interactive.into_iter().flat_map(|interactive| interactive.button_actions.values());
        let own = self.buttons.iter().filter_map(|(_, actions)| *actions);
        self.actions.into_iter().chain(interactive).chain(own).collect()
    }

    fn style(&mut self, style: Option<&'n ExpandedStyle>) {
        let Some(ExpandedStyle { r#type: _, title, summary, big_text, big_picture, lines, rest }) = style else {
            return;
        };
        self.further.extend([title, summary, big_text].into_iter().flatten().chain(lines.iter().flatten()));
        self.pictures.extend(big_picture);
        self.free.push(rest);
    }

    fn media(&mut self, media: Option<&'n MediaAttachment>) {
        let Some(MediaAttachment { url, content, rest }) = media else { return };
        self.pictures.push(url);
        self.free.push(rest);
        if let Some(MediaContent { title, subtitle, body, rest }) = content {
            self.further.extend([title, subtitle, body].into_iter().flatten());
            self.free.push(rest);
        }
    }
}

/// The overrides of one platform.
pub trait Overrides: Decode {
    /// Returns them in the form that all platforms share.
    fn shown(&self) -> Override<'_>;

    /// Replaces every text that can contain a placeholder.
    fn map_texts(&mut self, change: &dyn Fn(&str) -> String);

    /// The fields that are passed through.
    fn rest_mut(&mut self) -> &mut Rest;
}

/// Replaces the given texts.
fn fill<'t>(texts: impl IntoIterator<Item = &'t mut At<String>>, change: &dyn Fn(&str) -> String) {
    texts.into_iter().for_each(|text| text.value = change(text));
}

fn fill_actions(actions: &mut Option<Actions>, buttons: &mut Option<Interactive>, change: &dyn Fn(&str) -> String) {
    let buttons = buttons.iter_mut().flat_map(|interactive| interactive.button_actions.values_mut());
    actions.iter_mut().chain(buttons).for_each(|actions| actions.map_texts(change));
}

fn fill_style(style: &mut Option<ExpandedStyle>, change: &dyn Fn(&str) -> String) {
    let Some(ExpandedStyle { r#type: _, title, summary, big_text, big_picture, lines, rest }) = style else { return };
    fill([title, summary, big_text, big_picture].into_iter().flatten(), change);
    fill(lines.iter_mut().flatten(), change);
    rest.map_texts(change);
}

fn fill_media(MediaAttachment { url, content, rest }: &mut MediaAttachment, change: &dyn Fn(&str) -> String) {
    fill([url], change);
    rest.map_texts(change);
    if let Some(MediaContent { title, subtitle, body, rest }) = content {
        fill([title, subtitle, body].into_iter().flatten(), change);
        rest.map_texts(change);
    }
}

impl Overrides for Ios {
    fn shown(&self) -> Override<'_> {
        let Self { alert, title, subtitle, badge, sound, category, thread_id, collapse_id, extra, rest, .. } = self;
        let badge = match badge {
            Some(Badge::Text(text)) => Some(text),
            _ => None,
        };
        let mut shown = Override {
            alert: alert.as_ref(),
            title: title.as_ref(),
            subtitle: subtitle.as_ref(),
            actions: self.actions.as_ref(),
            interactive: self.interactive.as_ref(),
            values: [sound, category, thread_id, collapse_id].into_iter().flatten().chain(badge).collect(),
            free: vec![extra, rest],
            ..Override::default()
        };
        shown.media(self.media_attachment.as_ref());
        shown
    }

    fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { alert, title, subtitle, sound, category, thread_id, collapse_id, .. } = self;
        fill([alert, title, subtitle, sound, category, thread_id, collapse_id].into_iter().flatten(), change);
        self.badge.iter_mut().for_each(|badge| badge.fill(change));
        self.media_attachment.iter_mut().for_each(|media| fill_media(media, change));
        self.extra.map_texts(change);
        self.rest.map_texts(change);
        fill_actions(&mut self.actions, &mut self.interactive, change);
    }

    fn rest_mut(&mut self) -> &mut Rest {
        &mut self.rest
    }
}

impl Overrides for Android {
    fn shown(&self) -> Override<'_> {
        let Self { icon, sound, notification_channel, notification_tag, collapse_key, category, .. } = self;
        let values = [icon, sound, notification_channel, notification_tag, collapse_key, category];
        let mut shown = Override {
            alert: self.alert.as_ref(),
            title: self.title.as_ref(),
            summary: self.summary.as_ref(),
            actions: self.actions.as_ref(),
            interactive: self.interactive.as_ref(),
            values: values.into_iter().flatten().chain(self.extra.values()).collect(),
            free: vec![&self.rest],
            ..Override::default()
        };
        shown.style(self.style.as_ref());
        shown
    }

    fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { alert, title, summary, icon, sound, notification_channel, .. } = self;
        fill([alert, title, summary, icon, sound, notification_channel].into_iter().flatten(), change);
        let Self { notification_tag, collapse_key, category, extra, .. } = self;
        fill([notification_tag, collapse_key, category].into_iter().flatten().chain(extra.values_mut()), change);
        fill_style(&mut self.style, change);
        self.rest.map_texts(change);
        fill_actions(&mut self.actions, &mut self.interactive, change);
    }

    fn rest_mut(&mut self) -> &mut Rest {
        &mut self.rest
    }
}

impl Overrides for Amazon {
    fn shown(&self) -> Override<'_> {
        let mut shown = Override {
            alert: self.alert.as_ref(),
            title: self.title.as_ref(),
            summary: self.summary.as_ref(),
            actions: self.actions.as_ref(),
            interactive: self.interactive.as_ref(),
            values: self.consolidation_key.iter().chain(self.extra.values()).collect(),
            free: vec![&self.rest],
            ..Override::default()
        };
        shown.style(self.style.as_ref());
        shown
    }

    fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { alert, title, summary, consolidation_key, extra, .. } = self;
        fill([alert, title, summary, consolidation_key].into_iter().flatten().chain(extra.values_mut()), change);
        fill_style(&mut self.style, change);
        self.rest.map_texts(change);
        fill_actions(&mut self.actions, &mut self.interactive, change);
    }

    fn rest_mut(&mut self) -> &mut Rest {
        &mut self.rest
    }
}

impl Overrides for OpenOverrides {
    fn shown(&self) -> Override<'_> {
        let mut shown = Override {
            alert: self.alert.as_ref(),
            title: self.title.as_ref(),
            summary: self.summary.as_ref(),
            actions: self.actions.as_ref(),
            interactive: self.interactive.as_ref(),
            values: self.extra.values().collect(),
            free: vec![&self.rest],
            ..Override::default()
        };
        match &self.media_attachment {
            Some(OpenMedia::Url(url)) => shown.pictures.push(url),
            Some(OpenMedia::Map(media)) => shown.media(Some(media)),
            None => {}
        }
        shown
    }

    fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { alert, title, summary, extra, .. } = self;
        fill([alert, title, summary].into_iter().flatten().chain(extra.values_mut()), change);
        match &mut self.media_attachment {
            Some(OpenMedia::Url(url)) => fill([url], change),
            Some(OpenMedia::Map(media)) => fill_media(media, change),
            None => {}
        }
        self.rest.map_texts(change);
        fill_actions(&mut self.actions, &mut self.interactive, change);
    }

    fn rest_mut(&mut self) -> &mut Rest {
        &mut self.rest
    }
}

impl Web {
    pub fn shown(&self) -> Override<'_> {
        let buttons = self.buttons.iter().flatten();
        Override {
            alert: self.alert.as_ref(),
            title: self.title.as_ref(),
            actions: self.actions.as_ref(),
            interactive: self.interactive.as_ref(),
            pictures: self.image.iter().map(|image| &image.url).collect(),
            urls: self.icon.iter().map(|icon| &icon.url).collect(),
            values: self.extra.values().collect(),
            free: buttons.clone().map(|button| &button.rest).collect(),
            buttons: buttons
                .map(|button| (button.label.as_ref().unwrap_or(&button.id), button.actions.as_ref()))
                .collect(),
            ..Override::default()
        }
    }

    pub(crate) fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { title, icon, extra, alert, image, buttons, .. } = self;
        fill([title, alert].into_iter().flatten().chain(extra.values_mut()), change);
        fill(icon.iter_mut().chain(image).map(|image| &mut image.url), change);
        for button in buttons.iter_mut().flatten() {
            fill([&mut button.id].into_iter().chain(&mut button.label), change);
            button.actions.iter_mut().for_each(|actions| actions.map_texts(change));
            button.rest.map_texts(change);
        }
        fill_actions(&mut self.actions, &mut self.interactive, change);
    }

    /// The fields that only the extended API has: the name of each, and its position if it is known.
    pub fn extended(&self) -> Vec<(&'static str, Option<Span>)> {
        let Self { title: _, icon: _, extra: _, alert, image, buttons, require_interaction, time_to_live, .. } = self;
        let first = buttons.iter().flatten().next().map(|button| Some(button.id.span));
        let fields = [
            ("alert", alert.as_ref().map(|alert| Some(alert.span))),
            ("image", image.as_ref().map(|image| Some(image.url.span))),
            ("buttons", first),
            ("require_interaction", require_interaction.as_ref().map(|value| Some(value.span))),
            ("time_to_live", time_to_live.as_ref().map(|value| Some(value.span))),
            ("actions", self.actions.as_ref().map(|_| None)),
            ("interactive", self.interactive.as_ref().map(|interactive| Some(interactive.r#type.span))),
        ];
        fields.into_iter().filter_map(|(name, at)| Some((name, at?))).collect()
    }
}
