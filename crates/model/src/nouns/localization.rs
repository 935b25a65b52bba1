//! The content of a push for devices with one language or country.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::message::Message;
use super::notification::Notification;
use crate::node::{At, Decode, Node, Reader, shape};

shape! {
    /// The content for the devices with a language, with a country, or with both.
    pub struct Localization as "a localization" {
        /// The language of the device, an ISO 639-1 code such as `de`.
        language: Option<At<String>>,
        /// The country of the device, an ISO 3166-1 code such as `AT`.
        country: Option<At<String>>,
        /// The notification, instead of the common one.
        notification: Option<At<Notification>>,
        /// The Message Center message, instead of the common one.
        message: Option<At<Message>>,
        ..rest
    }
}

impl Localization {
    /// Returns its locale: `de-AT`, `de` or `AT`; empty if it has none.
    pub fn locale(&self) -> String {
        let codes = [&self.language, &self.country].into_iter().flatten();
        codes.map(|code| code.as_str()).collect::<Vec<_>>().join("-")
    }

    /// Replaces every text that can contain a placeholder.
    pub fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let Self { language: _, country: _, notification, message, rest } = self;
        notification.iter_mut().for_each(|notification| notification.value.map_texts(change));
        message.iter_mut().for_each(|message| message.value.map_texts(change));
        rest.map_texts(change);
    }
}

/// The localizations of a push. Their order has no meaning: they are compared and sent in the order of their locales.
#[derive(Clone, Debug, Default)]
pub struct Localizations(pub Vec<At<Localization>>);

impl Localizations {
    /// Returns the localization that a device with a language and a country gets, if there is one.
    pub fn of_device(&self, device: [Option<&str>; 2]) -> Option<&Localization> {
        let locales =
            self.0.iter().map(|own| [&own.language, &own.country].map(|code| code.as_deref().map(String::as_str)));
        most_specific(locales, device).and_then(|at| self.0.get(at)).map(|own| &own.value)
    }

    fn in_order(&self) -> Vec<&Localization> {
        let mut sorted: Vec<&Localization> = self.0.iter().map(|one| &one.value).collect();
        sorted.sort_by_cached_key(|one| one.locale());
        sorted
    }
}

impl Deref for Localizations {
    type Target = Vec<At<Localization>>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Localizations {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl PartialEq for Localizations {
    fn eq(&self, other: &Self) -> bool {
        self.in_order() == other.in_order()
    }
}

impl Serialize for Localizations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.in_order().serialize(serializer)
    }
}

impl Decode for Localizations {
    const WHAT: &'static str = Vec::<At<Localization>>::WHAT;
    const FIELDS: &'static [&'static str] = Localization::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        Vec::decode(node, reader).map(Self)
    }
    fn absent() -> Option<Self> {
        Some(Self::default())
    }
    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl JsonSchema for Localizations {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Localizations".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Localization>::json_schema(generator)
    }
}

/// Returns the position of the localization that a device gets, if there is one: the most specific one that matches.
/// `locales` has the language and the country of each. A language is more specific than a country.
pub fn most_specific<'l>(
    locales: impl IntoIterator<Item = [Option<&'l str>; 2]>,
    device: [Option<&str>; 2],
) -> Option<usize> {
    let matches = |wanted: Option<&str>, has: Option<&str>| {
        wanted.is_none_or(|wanted| has.is_some_and(|has| has.eq_ignore_ascii_case(wanted)))
    };
    let fitting = locales.into_iter().enumerate().filter(|(_, [language, country])| {
        (language.is_some() || country.is_some()) && matches(*language, device[0]) && matches(*country, device[1])
    });
    let rank = |[language, country]: [Option<&str>; 2]| (language.is_some(), country.is_some());
    fitting.min_by_key(|(at, locale)| (Reverse(rank(*locale)), *at)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_localization_wins() {
        let (de, at, de_at) = ([Some("de"), None], [None, Some("AT")], [Some("de"), Some("AT")]);
        let all = [at, de, de_at];
        for (language, country, expected) in [
            (Some("de"), Some("AT"), Some(2)),
            (Some("DE"), Some("at"), Some(2)),
            (Some("de"), Some("CH"), Some(1)),
            (Some("de"), None, Some(1)),
            (Some("hu"), Some("AT"), Some(0)),
            (Some("hu"), Some("HU"), None),
            (None, None, None),
        ] {
            assert_eq!(most_specific(all, [language, country]), expected, "{language:?} {country:?}");
        }
        assert_eq!(most_specific([at, de], [Some("de"), Some("AT")]), Some(1));
        assert_eq!(most_specific([[None, None]], [Some("de"), None]), None);
    }
}
