//! The known facts about a device, as a channel list shows them.

use serde_json::Value;

use super::SetSort;
use super::codes::{ABSENT, UNKNOWN};
use crate::exchange::BadAnswer;
use crate::nouns::vocabulary::{GROUPS, Group, Platform, SAO_PAULO_IANA, SAO_PAULO_TAG, Values, is_well_formed};

/// The group name of tags without a group.
const NO_GROUP: &str = "";

/// Tags of a named user, as group and tag. Its devices have them as well.
pub type UserTags = Vec<(String, String)>;

/// The known facts about a device. A field that is `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Such as `ios` or `open::sms`.
    pub kind: Option<String>,
    /// Its values in the groups that the service fills in, by their index in [`GROUPS`].
    pub properties: Vec<(usize, String)>,
    /// Whether a missing property means that the device does not have it.
    pub tells_properties: bool,
    /// Tags without a group.
    pub tags: Option<Vec<String>>,
    /// Tags in a group, as group and tag.
    pub group_tags: Option<Vec<(String, String)>>,
    pub user: UserFacts,
    pub lists: Option<Vec<String>>,
    pub subscriptions: Option<Vec<String>>,
    /// The places where it was seen.
    pub places: Option<Vec<String>>,
}

/// The known facts about the named user of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UserFacts {
    /// It may belong to one.
    #[default]
    Unknown,
    None,
    /// It belongs to one. Contains the tags of the user, if they are known.
    Has(Option<UserTags>),
}

impl DeviceFacts {
    /// Parses a record of a channel list. `tags_of` returns the tags of a named user, if they are known. Returns `None`
    /// for a channel that is not installed, and an error for anything that is not a channel.
    pub fn of_channel(record: &Value, tags_of: &dyn Fn(&str) -> Option<UserTags>) -> Result<Option<Self>, BadAnswer> {
        let device_type = record["device_type"].as_str().ok_or("a channel has no `device_type`")?;
        if record["installed"] == false {
            return Ok(None);
        }
        let platform = record["open"]["open_platform_name"].as_str();
        let kind = match (device_type, platform) {
            ("open", Some(platform)) => Some(format!("open::{platform}")),
            ("open", None) => None,
            (kind, _) => Some(kind.to_owned()),
        };
        let mut facts = Self { kind, ..Self::default() };
        facts.tags = record["tags"].as_array().map(|tags| texts(tags));
        if let Some(groups) = record["tag_groups"].as_object() {
            let mut own = Vec::new();
            for (group, tags) in groups {
                let tags = tags.as_array().map(|tags| texts(tags)).unwrap_or_default();
                match (GROUPS.iter().position(|known| known.id == group), &tags[..]) {
                    (Some(place), [value]) => facts.properties.push((place, value.clone())),
                    // A device has one value, so several values say nothing.
                    (Some(_), _) => {}
                    (None, _) => own.extend(tags.into_iter().map(|tag| (group.clone(), tag))),
                }
            }
            facts.group_tags = Some(own);
        }
        for (group, field) in [("ua_opt_in", "opt_in"), ("ua_background_enabled", "background")] {
            let place = GROUPS.iter().position(|known| known.id == group);
            if let (Some(place), Some(flag)) = (place, record[field].as_bool())
                && facts.value(place).is_none()
            {
                facts.properties.push((place, flag.to_string()));
            }
        }
        facts.user = match record.get("named_user_id") {
            None => UserFacts::Unknown,
            Some(Value::String(user)) => UserFacts::Has(tags_of(user)),
            Some(_) => UserFacts::None,
        };
        Ok(Some(facts))
    }

    fn value(&self, place: usize) -> Option<&str> {
        self.properties.iter().find(|(own, _)| *own == place).map(|(_, value)| value.as_str())
    }

    /// Returns its value in a group that the service fills in, or the code of why there is none.
    pub(super) fn property(&self, place: usize) -> Result<&str, u32> {
        let group = &GROUPS[place];
        match self.value(place) {
            Some(SAO_PAULO_IANA) if group.values == Values::TimeZone => Ok(SAO_PAULO_TAG),
            Some(value) => Ok(value),
            None if self.tells_properties || self.cannot_have(group) => Err(ABSENT),
            None => Err(UNKNOWN),
        }
    }

    /// Whether a device of its kind and version cannot have a value in a group.
    fn cannot_have(&self, group: &Group) -> bool {
        let Some(kind) = self.kind.as_deref() else { return false };
        let own = match group.platform {
            Some(Platform::Ios) => Some("ios"),
            Some(Platform::Android) => Some("android"),
            None => None,
        };
        if own.is_some_and(|own| own != kind) {
            return true;
        }
        // Only SDK 6.0 and later report whether location is enabled.
        let sdk = match kind {
            "ios" => "ua_ios_sdk_version",
            "android" => "ua_android_sdk_version",
            _ => return false,
        };
        let place = GROUPS.iter().position(|known| known.id == sdk);
        let version = place.and_then(|place| self.value(place)).filter(|version| is_well_formed(version));
        let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        group.id == "ua_location_enabled" && major.is_some_and(|major| major < 6)
    }

    /// Returns the sets that it is in.
    pub(super) fn sets(&self) -> impl Iterator<Item = (SetSort, &str, &str)> {
        let user = match &self.user {
            UserFacts::Has(Some(tags)) => tags.as_slice(),
            _ => &[],
        };
        let grouped = self.group_tags.iter().flatten().chain(user).map(|(group, tag)| {
            let sort = if group == NO_GROUP { SetSort::Tag } else { SetSort::GroupTag };
            (sort, group.as_str(), tag.as_str())
        });
        plain(SetSort::Tag, self.tags.as_ref())
            .chain(grouped)
            .chain(plain(SetSort::List, self.lists.as_ref()))
            .chain(plain(SetSort::Subscription, self.subscriptions.as_ref()))
            .chain(plain(SetSort::Place, self.places.as_ref()))
    }

    /// Whether all of its sets of a sort are known.
    pub(super) fn tells(&self, sort: SetSort) -> bool {
        let user = !matches!(self.user, UserFacts::Unknown | UserFacts::Has(None));
        match sort {
            SetSort::Tag => self.tags.is_some() && user,
            SetSort::GroupTag => self.group_tags.is_some() && user,
            SetSort::List => self.lists.is_some(),
            SetSort::Subscription => self.subscriptions.is_some(),
            SetSort::Place => self.places.is_some(),
        }
    }

    pub(super) fn may_have_user(&self) -> bool {
        self.user != UserFacts::None
    }
}

/// Returns sets without a group.
fn plain(sort: SetSort, names: Option<&Vec<String>>) -> impl Iterator<Item = (SetSort, &str, &str)> {
    names.into_iter().flatten().map(move |name| (sort, NO_GROUP, name.as_str()))
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
