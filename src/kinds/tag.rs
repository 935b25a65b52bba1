use super::{Identity, Parts, Resource, TagUse};
use crate::model::many::Set;
use crate::node::{At, shape};

shape! {
    /// A tag of the legacy API. Its removal takes it from every device.
    pub struct LegacyTag as "a legacy tag" {
        /// The tag, 1 to 128 characters. The key where it is left out.
        tag: Option<At<String>>,
        /// iOS channels that carry it.
        ios_channels: Option<Set<At<String>>>,
        /// Android channels that carry it.
        android_channels: Option<Set<At<String>>>,
    }
}

impl Resource for LegacyTag {
    const KEY: &'static str = "tags";
    const NOUN: &'static str = "legacy tag";
    const PURPOSE: &'static str = "A tag of the legacy API. Tag groups are recommended instead.";

    fn settle(&mut self, key: &At<String>) {
        self.tag.get_or_insert_with(|| key.clone());
    }

    fn identity(&self) -> Option<Identity> {
        self.tag.as_ref().map(|tag| Identity { name: tag.value.clone(), at: tag.span })
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        parts.tags.extend(self.tag.iter().map(|tag| TagUse { tag, group: None }));
    }
}
