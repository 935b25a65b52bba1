//! The changed messages, in the JSON form.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::PlanView;
use super::super::facts::written;
use super::super::loosened;
use super::people::PeopleOfMessage;
use super::reach::MessageReach;
use crate::audience::Relation;
use crate::nouns::split::Share;
use crate::plan::{Loosened, Plan, QuietMessage, TightenedQuiet};
use crate::review::{FieldChange, MessageCause, MessageChange, NewHost, VariantShares};
use crate::timing::Times;

/// A message that changes, by its own edit or through something that it refers to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanMessage {
    /// Its sender: an address, or the name of an unmanaged resource.
    pub address: String,
    /// The number of the variant or the outcome, from 1. Null if there is only one.
    pub variant: Option<usize>,
    /// create, change, cancel or send.
    pub action: &'static str,
    /// Why a reviewer should check it: sends_now, sends_later, everyone, more, different, quiet_hours, new_host, time,
    /// text, fewer, nobody, new or cancelled. The first one that applies.
    pub class: String,
    pub audience: MessageAudience,
    /// The number of devices. Null if it was not counted.
    pub reach: Option<MessageReach>,
    pub content: MessageContent,
    pub when: MessageWhen,
    /// Local times that are newly in quiet hours, such as `Sydney 01:00 Sat`.
    pub quiet: Vec<String>,
    /// Hosts that it links to or loads from and that no message used before.
    pub new_hosts: Vec<LinkedHost>,
    /// Whether it changes only after a manual step.
    pub by_hand: bool,
    /// The causes of its change.
    pub causes: Vec<Cause>,
    /// The messages of devices before and after, with `--people`. Missing without it, and if the recipients do not
    /// change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleOfMessage>,
}

/// The audience of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageAudience {
    pub words: String,
    /// same, broader, narrower, disjoint, different or too_complex. Null if there is nothing to compare.
    pub relation: Option<&'static str>,
    /// A device that joins.
    pub joins: Option<String>,
    /// A device that leaves.
    pub leaves: Option<String>,
    /// Whether every device gets it.
    pub everyone: bool,
    /// Whether no device can get it.
    pub nobody: bool,
    /// Whether it reaches people who were excluded before.
    pub exclusion_loosened: bool,
    /// The recipients because of a tag that the plan adds or removes.
    pub recipients: Vec<String>,
    /// The number of variants that share the devices, if an experiment gets or loses some. Null otherwise.
    pub share: Option<VariantShare>,
    /// The share of the audience that gets this variant of an experiment, in percent. Null for other messages.
    pub share_percent: Option<SharePercent>,
}

/// The number of variants; a device gets one of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VariantShare {
    pub old: usize,
    pub new: usize,
}

/// The share of an audience that gets a variant, in percent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SharePercent {
    /// Null if the variant is new.
    pub old: Option<f64>,
    /// Null if the variant is cancelled.
    pub new: Option<f64>,
}

/// The content of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageContent {
    /// Whether any part of it changes.
    pub changed: bool,
    pub old: Option<String>,
    pub new: Option<String>,
    /// Changes besides its text, such as a link.
    pub fields: Vec<ChangedField>,
}

/// A field of a message that changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedField {
    /// Its path, such as actions.open.content.
    pub path: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// A host that no message used before.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LinkedHost {
    pub name: String,
    /// A host that was used before and looks similar.
    pub resembles: Option<String>,
    /// Whether every link to it is encrypted.
    pub encrypted: bool,
    /// All of this, in words.
    pub words: String,
}

/// When a message is sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageWhen {
    /// Whether a time or the trigger changes.
    pub changed: bool,
    pub times: Vec<TimePair>,
    /// The event that triggers it, as it was.
    pub old_trigger: Option<String>,
    pub trigger: Option<String>,
    /// The quiet hours in which an event can send it, such as `21:00 to 08:00`. Null if its event, delay and hours are
    /// unchanged.
    pub any_hour: Option<String>,
    /// The seconds from the apply to the send, if the plan sends it.
    pub after_seconds: Option<i64>,
}

/// A time as it was, and as it will be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TimePair {
    pub old: Option<String>,
    pub new: Option<String>,
}

/// A change that is the cause of a changed message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cause {
    /// The resource, or the source of one of its values: a variable such as var.discount, defaults.segments,
    /// overlays.eu or a body file.
    pub address: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// The change, in words. Empty for the message's own resource.
    pub words: String,
}

/// A safety setting that is looser than at the last apply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoosenedGuard {
    /// The resource with the setting. Null for a setting of the target.
    pub address: Option<String>,
    /// The setting, such as lifecycle.broadcast or quiet_hours.
    pub setting: String,
    /// The code of the check that it turns off. Null for other settings.
    pub code: Option<String>,
    /// The change, in words.
    pub words: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// Addresses that it refused or reported before and now accepts, and for a check, the messages that use them. Null if one plan
    /// does not show them.
    pub lets_through: Option<Vec<String>>,
    /// The effect on this plan, in words. Null if one plan does not show it.
    pub effect: Option<String>,
}

/// Quiet hours that are longer than at the last apply, and messages that are in them for this reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TightenedQuietHours {
    /// Such as `21:00 to 08:00`. Null if there were none.
    pub was: Option<String>,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub messages: Vec<MessageInQuietHours>,
}

/// A message in quiet hours.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageInQuietHours {
    pub address: String,
    /// A clock that shows quiet hours when it is sent, such as `Sydney 01:00 Sat`.
    pub clock: String,
}

impl TightenedQuietHours {
    pub fn of(plan: &Plan) -> Option<Self> {
        let TightenedQuiet { was, place, messages } = plan.told.tightened_quiet.as_ref()?;
        let message =
            |one: &QuietMessage| MessageInQuietHours { address: one.address.to_string(), clock: one.clock.clone() };
        Some(Self {
            was: was.as_ref().map(ToString::to_string),
            file: place.as_ref().map(|place| place.file.to_string()),
            line: place.as_ref().map(|place| place.line),
            messages: messages.iter().map(message).collect(),
        })
    }
}

impl LoosenedGuard {
    pub fn all(plan: &Plan) -> Vec<Self> {
        plan.told.loosened.iter().map(Self::of).collect()
    }

    fn of(loosened: &Loosened) -> Self {
        let Loosened { address, setting, code, words, place, lets_through } = loosened;
        Self {
            address: address.as_ref().map(ToString::to_string),
            setting: setting.clone(),
            code: code.clone(),
            words: words.clone(),
            file: place.as_ref().map(|place| place.file.to_string()),
            line: place.as_ref().map(|place| place.line),
            lets_through: lets_through.as_ref().map(|all| all.iter().map(ToString::to_string).collect()),
            effect: loosened::effect(&[loosened]),
        }
    }
}

impl PlanMessage {
    pub fn all(view: &PlanView) -> Vec<Self> {
        view.review.impact().iter().map(|message| Self::new(view.plan, message)).collect()
    }

    fn new(plan: &Plan, message: &MessageChange) -> Self {
        let MessageChange { sender, variant, fate, class, audience, text, times, trigger, quiet, causes, .. } = message;
        let relation = audience.relation.as_ref();
        let at = |times: &Option<Times>| times.as_ref().map(|times| written(times.when));
        let times: Vec<TimePair> = times.iter().map(|(was, is)| TimePair { old: at(was), new: at(is) }).collect();
        let is_moved = |pair: &TimePair| pair.old != pair.new;
        Self {
            address: sender.clone(),
            variant: *variant,
            action: fate.word(),
            class: class.word(),
            audience: MessageAudience {
                words: audience.words.clone(),
                relation: relation.map(Relation::word),
                joins: relation.and_then(Relation::joins).map(ToString::to_string),
                leaves: relation.and_then(Relation::leaves).map(ToString::to_string),
                everyone: audience.everyone,
                nobody: audience.nobody,
                exclusion_loosened: audience.is_loosened,
                recipients: message.recipients.clone(),
                share: message.shares.and_then(VariantShare::new),
                share_percent: message.shares.map(SharePercent::new),
            },
            reach: message.reach.and_then(|change| {
                MessageReach::new(plan, &message.address, change, message.is_part_of_its_audience())
            }),
            content: MessageContent {
                changed: text.is_changed,
                old: text.old.clone(),
                new: text.new.clone(),
                fields: text.fields.iter().map(ChangedField::new).collect(),
            },
            when: MessageWhen {
                changed: trigger.0 != trigger.1 || times.iter().any(is_moved),
                times,
                old_trigger: trigger.0.clone(),
                trigger: trigger.1.clone(),
                any_hour: message.any_hour.as_ref().map(ToString::to_string),
                after_seconds: message.after_seconds,
            },
            quiet: quiet.clone(),
            new_hosts: message.new_hosts.iter().map(LinkedHost::new).collect(),
            by_hand: message.is_by_hand,
            causes: causes.iter().map(Cause::new).collect(),
            people: PeopleOfMessage::of(plan, sender),
        }
    }
}

impl VariantShare {
    fn new(shares: VariantShares) -> Option<Self> {
        let (old, new) = shares.variants;
        (old > 0 && new > 0 && old != new).then_some(Self { old, new })
    }
}

impl SharePercent {
    fn new(shares: VariantShares) -> Self {
        let percent = |share: Option<Share>| share.map(|share| (share.0 * 10_000.0).round() / 100.0);
        Self { old: percent(shares.old), new: percent(shares.new) }
    }
}

impl LinkedHost {
    fn new(host: &NewHost) -> Self {
        Self {
            name: host.name.clone(),
            resembles: host.resembles.clone(),
            encrypted: !host.is_plain,
            words: host.words(),
        }
    }
}

impl ChangedField {
    fn new(FieldChange { path, old, new }: &FieldChange) -> Self {
        Self { path: path.clone(), old: old.clone(), new: new.clone() }
    }
}

impl Cause {
    fn new(cause: &MessageCause) -> Self {
        let MessageCause { address: _, origin: _, place, words, is_exclusion: _, is_by_tags: _ } = cause;
        Self {
            address: cause.name(),
            file: place.as_ref().map(|place| place.file.to_string()),
            line: place.as_ref().map(|place| place.line),
            words: words.clone(),
        }
    }
}
