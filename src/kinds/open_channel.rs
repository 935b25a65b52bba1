use std::collections::BTreeMap;

use super::{Identity, Parts, Resource, TagUse};
use crate::model::many::Set;
use crate::model::vocabulary;
use crate::model::zone::Zone;
use crate::node::{At, shape};

shape! {
    /// A channel of a custom messaging platform, addressed by pushes to `open::<platform>`.
    pub struct OpenChannel as "an open channel" {
        /// The unique address of the channel. The key where it is left out.
        address: Option<At<String>>,
        /// Whether it takes messages.
        opt_in: bool,
        /// Its tags.
        tags: Option<Set<At<String>>>,
        /// Its time zone, an IANA name.
        timezone: Option<At<Zone>>,
        /// Its country, an ISO 3166-1 code.
        locale_country: Option<At<String>>,
        /// Its language, an ISO 639-1 code.
        locale_language: Option<At<String>>,
        /// The platform that it belongs to.
        open: OpenPlatform,
    }
}

shape! {
    /// The platform of an open channel.
    pub struct OpenPlatform as "a platform with open_platform_name" text "open_platform_name" {
        /// The platform's name; pushes go to `open::<name>`.
        open_platform_name: At<String>,
        /// The platform's own identifiers for the channel.
        identifiers: BTreeMap<At<String>, At<String>>,
    }
}

impl Resource for OpenChannel {
    const KEY: &'static str = "open_channels";
    const NOUN: &'static str = "open channel";
    const PURPOSE: &'static str = "A channel of a custom messaging platform.";

    fn settle(&mut self, key: &At<String>) {
        self.address.get_or_insert_with(|| key.clone());
    }

    fn identity(&self) -> Option<Identity> {
        let platform = &self.open.open_platform_name;
        self.address.as_ref().map(|address| Identity { name: format!("{address} of {platform}"), at: address.span })
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let said = [("ua_locale_country", &self.locale_country), ("ua_locale_language", &self.locale_language)];
        parts.properties.extend(said.iter().filter_map(|(id, value)| Some((vocabulary::group(id)?, value.as_ref()?))));
        parts.tags.extend(self.tags.iter().flatten().map(|tag| TagUse { tag, group: None }));
    }
}
