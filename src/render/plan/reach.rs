//! The number of devices that a message reaches, in words that every form shows.

use super::PlanView;
use crate::address::Address;
use crate::plan::{Plan, Reach, ReachChange};
use crate::population::{DeviceCount, PopulationAbout, PopulationSource};
use crate::render::table::grouped as thousands;
use crate::review::{MessageChange, MessageClass, MessageFate, MessageGroup};
use crate::timing::words::length;

const MILLION: u64 = 1_000_000;
/// Up to this number of senders in one row, each has its own count.
const FEW: usize = 3;
/// The number of locales whose devices are named.
const MOST_LOCALES: usize = 12;

/// `12,400 → 13,050 of 40,000 devices (+650); de: 3,400`, for the messages of one row.
pub fn of_group(plan: &Plan, group: &MessageGroup) -> Option<String> {
    let all = of_audience(plan, group)?;
    let mut senders = group.messages.iter().map(|message| &message.address);
    let first = senders.next().filter(|first| senders.all(|other| other == *first));
    let sender = first.filter(|_| group.first.fate != MessageFate::Cancelled);
    Some(match sender.and_then(|sender| by_locale(plan.told.reach.as_ref()?, sender)) {
        Some(locales) => format!("{all}; {locales}"),
        None => all,
    })
}

fn of_audience(plan: &Plan, group: &MessageGroup) -> Option<String> {
    let about = &plan.told.reach.as_ref()?.population;
    let all: Vec<ReachChange> = group.messages.iter().filter_map(|message| message.reach).collect();
    let is_by_tags = group.first.causes.iter().any(|cause| cause.is_by_tags);
    if all.is_empty() && is_by_tags && group.first.fate == MessageFate::Changed {
        return Some("not counted, because the plan changes tags or channels of people".to_owned());
    }
    let first = *all.first().filter(|_| all.len() == group.messages.len())?;
    if all.iter().all(|other| *other == first) {
        let is_part = group.first.is_part_of_its_audience();
        let each = is_part.then_some(if group.messages.len() > 1 { " each" } else { "" });
        return words(first, about, each, group);
    }
    let mut senders: Vec<(&str, ReachChange)> =
        group.messages.iter().zip(&all).map(|(message, reach)| (message.sender.as_str(), *reach)).collect();
    senders.dedup();
    if senders.len() <= FEW {
        let key = |sender: &str| sender.split_once('/').map_or(sender, |(_, key)| key).to_owned();
        let each = senders.iter().filter_map(|(sender, reach)| {
            let same = match group.first.class {
                _ if is_none(reach.after) && !is_none(reach.before) => ", nobody today",
                class if is_same(*reach) && says_same(class) => ", as before",
                _ if group.is_exchange() => " (other devices)",
                _ => "",
            };
            Some(format!("{}: {}{}{same}", key(sender), hedge(about), counts(*reach, about)?))
        });
        let each: Vec<String> = each.collect();
        return Some(format!("{} (of {})", each.join("; "), devices(about)));
    }
    // Several senders with different audiences: the overlap of the audiences is unknown.
    let after: Vec<DeviceCount> = all.iter().filter_map(|one| one.after.or(one.before)).collect();
    let (least, most) = (after.iter().map(|one| one.at_least).min()?, after.iter().map(|one| one.at_most).max()?);
    let range = DeviceCount { at_least: least, at_most: most };
    Some(format!("{}{} of {} each", hedge(about), count(range, about), devices(about)))
}

/// `each` follows the number if it is the part of an audience that a variant gets.
fn words(change: ReachChange, about: &PopulationAbout, each: Option<&str>, group: &MessageGroup) -> Option<String> {
    let class = group.first.class;
    let counts = counts(change, about)?;
    let delta = match (change.before, change.after) {
        (Some(_), after) if is_none(after) && !is_none(change.before) => ", nobody today".to_owned(),
        // If some join and others leave, the difference is not the number of those who join.
        _ if group.is_exchange() => ", all of them other devices".to_owned(),
        _ if class == MessageClass::Different && !is_same(change) => String::new(),
        (Some(before), Some(after)) if before.is_exact() && after.is_exact() && before != after => {
            let sign = if after > before { "+" } else { "−" };
            format!(" ({sign}{})", thousands(after.at_least.abs_diff(before.at_least)))
        }
        _ if says_same(class) && is_same(change) => ", as before".to_owned(),
        _ => String::new(),
    };
    let is_nobody = change.before.into_iter().chain(change.after).all(|count| count.at_most == 0);
    let each = each.filter(|_| !is_nobody);
    let hedge = if each.is_some() { "about " } else { hedge(about) };
    Some(format!("{hedge}{counts} of {}{}{delta}", devices(about), each.unwrap_or_default()))
}

/// `de: 3,400, es: 1,200`: the devices that get each localization after the plan.
fn by_locale(reach: &Reach, sender: &Address) -> Option<String> {
    let (locales, about) = (reach.locales.get(sender)?, &reach.population);
    let shown: Vec<String> = locales
        .iter()
        .take(MOST_LOCALES)
        .map(|(locale, number)| format!("{locale}: {}{}", hedge(about), count(*number, about)))
        .collect();
    let more = locales.len().checked_sub(MOST_LOCALES).filter(|more| *more > 0);
    let more = more.map(|more| format!(", and {more} more locales")).unwrap_or_default();
    Some(format!("{}{more}", shown.join(", ")))
}

/// `about 12,400 of 40,000 devices; de: about 3,400`, for the message of one sender.
pub fn of_message(reach: &Reach, sender: &Address) -> Option<String> {
    let about = &reach.population;
    let all = format!("{}{} of {}", hedge(about), count(reach.of.get(sender)?.after?, about), devices(about));
    Some(match by_locale(reach, sender) {
        Some(locales) => format!("{all}; {locales}"),
        None => all,
    })
}

/// Whether a number that stays has to be said: other people get it, or it is sent to them more or less often.
fn says_same(class: MessageClass) -> bool {
    matches!(class, MessageClass::More | MessageClass::Different | MessageClass::Fewer)
}

fn is_none(count: Option<DeviceCount>) -> bool {
    count.is_some_and(|count| count.at_most == 0)
}

fn is_same(change: ReachChange) -> bool {
    change.before.is_some() && change.before == change.after
}

/// `12,400 → 13,050`, or one number if it is unchanged.
fn counts(change: ReachChange, about: &PopulationAbout) -> Option<String> {
    match (change.before, change.after) {
        (Some(before), Some(after)) if before != after => {
            Some(format!("{} → {}", count(before, about), count(after, about)))
        }
        (_, Some(one)) | (Some(one), None) => Some(count(one, about)),
        (None, None) => None,
    }
}

/// The hedge for a population other than the built-in one: it was read some time ago, so its numbers are only
/// approximate.
fn hedge(about: &PopulationAbout) -> &'static str {
    if about.source == PopulationSource::BuiltIn { "" } else { "about " }
}

/// `12,400`, `at least 12,400`, `at most 13,050`, `12,400 to 13,050`.
pub fn count(count: DeviceCount, about: &PopulationAbout) -> String {
    let DeviceCount { at_least, at_most } = count;
    match (at_least, at_most) {
        (one, other) if one == other => number(one, about),
        (0, most) => format!("at most {}", number(most, about)),
        (least, most) if most == about.devices => format!("at least {}", number(least, about)),
        (least, most) => format!("{} to {}", number(least, about), number(most, about)),
    }
}

/// `12,400`. Millions of a population that was read some time ago are rounded: `1.2 M`.
pub fn number(number: u64, about: &PopulationAbout) -> String {
    if about.source == PopulationSource::BuiltIn || number < MILLION {
        return thousands(number);
    }
    let tenths = (number + MILLION / 20) / (MILLION / 10);
    format!("{}.{} M", thousands(tenths / 10), tenths % 10)
}

/// `40,000 devices`: the size of the population.
pub fn devices(about: &PopulationAbout) -> String {
    let noun = if about.devices == 1 { "device" } else { "devices" };
    format!("{} {noun}", number(about.devices, about))
}

/// The population that the numbers of a plan refer to, if it has any.
pub fn population(view: &PlanView) -> Option<String> {
    let reach = view.plan.told.reach.as_ref()?;
    let is_shown = |message: &MessageChange| message.reach.is_some();
    view.review.impact().iter().any(is_shown).then(|| told(&reach.population, view.plan.made))
}

/// `Counted on the 40,000 devices that were read 3 days ago.`
pub fn told(about: &PopulationAbout, now: jiff::Timestamp) -> String {
    let devices = devices(about);
    match (about.source, about.taken) {
        (PopulationSource::BuiltIn, _) => format!("Counted on the {devices} of the built-in service."),
        (PopulationSource::Channels, Some(taken)) if is_old(now, taken) => {
            format!("Counted on the {devices} that were read {} ago.", length(age(now, taken)))
        }
        (PopulationSource::Channels, _) => format!("Counted on the {devices} that were just read."),
        (PopulationSource::Sample, _) => format!("Counted on a sample of {devices}."),
    }
}

fn age(now: jiff::Timestamp, taken: jiff::Timestamp) -> i64 {
    now.duration_since(taken).as_secs()
}

/// Whether a population is at least a minute old; a younger one counts as current.
fn is_old(now: jiff::Timestamp, taken: jiff::Timestamp) -> bool {
    age(now, taken) >= 60
}
