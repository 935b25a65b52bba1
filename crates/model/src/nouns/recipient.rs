//! A single recipient, the only destination of a test message.

use std::fmt;

use super::audience::{ChannelKey, Selector};
use crate::node::At;
use crate::source::Span;
use crate::text;

/// The key of a named user.
const NAMED_USER: &str = "named_user";

/// Keys of selectors that can match many people.
const MANY: [&str; 12] = [
    "all",
    "triggered",
    "tag",
    "group",
    "segment",
    "static_list",
    "subscription_list",
    "location",
    "attribute",
    "and",
    "or",
    "not",
];

/// A person by the application's id, or a single channel. Never a segment, a tag or `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The type of channel; `None` for a named user, who may have several.
    pub channel: Option<ChannelKey>,
    /// The id of the named user or of the channel; the address of an open channel.
    pub id: String,
}

/// Why a text is not a recipient, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRecipient {
    pub message: String,
    pub help: String,
}

impl Recipient {
    /// Returns the keys that a recipient may begin with.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        std::iter::once(NAMED_USER).chain(ChannelKey::ALL.into_iter().map(ChannelKey::key))
    }

    /// Parses `named_user:qa-1`, `named-user:qa-1` or `ios_channel:5f2b…`.
    pub fn parse(written: &str) -> Result<Self, NoRecipient> {
        let (key, id) = written.split_once(':').map_or((written, None), |(key, id)| (key, Some(id)));
        let key = &*key.replace('-', "_");
        if MANY.contains(&key.to_ascii_lowercase().as_str()) {
            return Err(NoRecipient {
                message: format!(
                    "`{}` can be many people; a test message is sent to one recipient",
                    text::short(key, 40)
                ),
                help: "write one recipient, such as named_user:qa-1 or ios_channel:ID; for an audience, declare a \
                        scheduled push, so that a plan shows the recipients"
                    .to_owned(),
            });
        }
        let expected = || text::any_of(&Self::keys().map(|key| format!("{key}:ID")).collect::<Vec<_>>());
        let Some(channel) = Self::key(key) else {
            let message = format!("`{}` is not a recipient", text::short(written, 60));
            let near = text::nearest(key, Self::keys()).map(|near| format!("did you mean {near}:ID?"));
            return Err(NoRecipient { message, help: near.unwrap_or_else(|| format!("expected {}", expected())) });
        };
        match id.filter(|id| !id.trim().is_empty()) {
            Some(id) => Ok(Self { channel, id: id.to_owned() }),
            None => {
                let message = format!("`{}` has no id", text::short(written, 60));
                Err(NoRecipient { message, help: format!("expected {key}:ID") })
            }
        }
    }

    /// Returns the type of channel of a key; `Some(None)` for a named user.
    fn key(key: &str) -> Option<Option<ChannelKey>> {
        let channel = ChannelKey::ALL.into_iter().find(|channel| channel.key() == key);
        if key == NAMED_USER { Some(None) } else { channel.map(Some) }
    }

    /// Whether a text is a pattern of recipients: `named_user:qa-*`. The part before the colon must not be a pattern,
    /// so that it is clear what is allowed.
    pub fn is_pattern(pattern: &str) -> bool {
        Self::parse(pattern).is_ok()
    }

    /// Whether a pattern matches this recipient. `*` matches any characters.
    pub fn is_like(&self, pattern: &str) -> bool {
        let pattern = Self::parse(pattern).map_or_else(|_| pattern.to_owned(), |pattern| pattern.to_string());
        text::is_like(&pattern, &self.to_string())
    }

    /// Returns the audience of only this recipient.
    pub fn audience(&self) -> Selector {
        let id = At::new(self.id.clone(), Span::NONE);
        match self.channel {
            None => Selector::NamedUser(id),
            Some(key) => Selector::Channel(key, id),
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.channel.map_or(NAMED_USER, ChannelKey::key);
        write!(f, "{key}:{}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_named_recipient_is_read_and_nothing_else() {
        for written in [
            "named_user:qa-1",
            "ios_channel:a",
            "android_channel:a",
            "amazon_channel:a",
            "channel:a",
            "open_channel:mailto:qa@example.com",
        ] {
            assert_eq!(Recipient::parse(written).expect("a recipient").to_string(), written);
        }
        let hyphened = Recipient::parse("named-user:qa-1").expect("a recipient");
        assert_eq!(hyphened.to_string(), "named_user:qa-1");
        assert!(hyphened.is_like("named-user:qa-*") && hyphened.is_like("named_user:qa-*"));
        for many in ["all", "ALL", "tag:vip", "segment:lapsed", "static_list:x", "OR:x", "triggered"] {
            let no = Recipient::parse(many).expect_err(many);
            assert!(no.message.contains("many people"), "{many}: {}", no.message);
        }
        assert!(Recipient::parse("named_usr:x").expect_err("a slip").help.contains("named_user"));
        for wrong in ["", "qa-1", "named_user", "named_user:", "named_user: ", ":x"] {
            assert!(Recipient::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_stays_with_its_kind() {
        let recipient = Recipient::parse("named_user:qa-1").expect("a recipient");
        assert!(recipient.is_like("named_user:qa-*") && recipient.is_like("named_user:qa-1"));
        assert!(!recipient.is_like("named_user:qa-") && !recipient.is_like("channel:*"));
        assert!(
            Recipient::is_pattern("named_user:*") && !Recipient::is_pattern("*") && !Recipient::is_pattern("tag:*")
        );
    }
}
