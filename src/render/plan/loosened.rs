//! Guards that are looser than at the last apply, and longer quiet hours, shared by all forms.

use std::collections::BTreeSet;

use super::PlanView;
use crate::address::Address;
use crate::kinds;
use crate::plan::{Loosened, QuietMessage, TightenedQuiet};
use crate::text::{all_of, count};

/// The number of rows that are shown.
const SHOWN: usize = 12;

/// The text for a guard that lets nothing of the plan through.
const NO_EFFECT: &str = "no effect on this plan";

/// The number of resources that a row names.
const NAMED: usize = 3;

/// A row: one setting of the target, of a resource, or of several resources with the same setting.
#[derive(Clone, Debug)]
pub struct GuardRow {
    /// The label of the row.
    pub label: &'static str,
    /// The resource, if the setting belongs to a single one.
    pub address: Option<Address>,
    /// The name of the owner of the setting.
    pub name: String,
    pub words: String,
    /// The effect on this plan.
    pub effect: Option<String>,
    /// `all.yaml:2`.
    pub place: Option<String>,
}

impl GuardRow {
    /// The change, and its effect on this plan.
    pub fn sentence(&self) -> String {
        let effect = self.effect.as_ref().map(|words| format!("; {words}")).unwrap_or_default();
        format!("{}{effect}", self.words)
    }
}

/// Whether there are any rows.
pub fn is_any(view: &PlanView) -> bool {
    !view.plan.told.loosened.is_empty() || view.plan.told.tightened_quiet.is_some()
}

/// The rows, and the number of those left out.
pub fn rows(view: &PlanView) -> (Vec<GuardRow>, usize) {
    let mut groups: Vec<Vec<&Loosened>> = Vec::new();
    for one in &view.plan.told.loosened {
        let kind = |one: &Loosened| one.address.as_ref().map(|address| address.kind);
        let is_alike = |group: &&mut Vec<&Loosened>| group[0].words == one.words && kind(group[0]) == kind(one);
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let more = groups.len().saturating_sub(SHOWN);
    let row = |group: &Vec<&Loosened>| {
        let first = group[0];
        let one = first.address.as_ref().filter(|_| group.len() == 1);
        let name = match (&first.address, one) {
            (None, _) => format!("target {}", view.plan.target),
            (_, Some(address)) => address.to_string(),
            (Some(address), None) => {
                count(group.len(), kinds::kind(&address.kind).map_or("resource", |kind| kind.noun))
            }
        };
        let place = first.place.as_ref().filter(|_| group.len() == 1);
        let place = place.map(|place| format!("{}:{}", place.file, place.line));
        let (words, effect) = (first.words.clone(), effect(group));
        GuardRow { label: "LOOSENED", address: one.cloned(), name, words, effect, place }
    };
    let tightened = view.plan.told.tightened_quiet.as_ref().map(|quiet| tightened(view, quiet));
    (groups.iter().take(SHOWN).map(row).chain(tightened).collect(), more)
}

/// The effect of settings of the same kind on this plan.
pub fn effect(group: &[&Loosened]) -> Option<String> {
    let through = let_through(group.iter().copied());
    let number = through.len();
    match (number, group[0].setting.as_str()) {
        (0, "lifecycle.protect") => Some("this takes effect after this apply".to_owned()),
        (0, _) => group.iter().all(|one| one.lets_through.is_some()).then(|| NO_EFFECT.to_owned()),
        (_, "lifecycle.broadcast") if group.len() == 1 => Some("it now reaches every device".to_owned()),
        (_, "lifecycle.broadcast") => Some(format!("{number} of them now reach every device")),
        _ => Some(format!("this affects {}", named(through.into_iter()))),
    }
}

fn let_through<'l>(loosened: impl Iterator<Item = &'l Loosened>) -> BTreeSet<&'l Address> {
    loosened.flat_map(|one| one.lets_through.iter().flatten()).collect()
}

/// `scheduled_pushes/a, scheduled_pushes/b and 3 more`.
fn named<'a>(addresses: impl ExactSizeIterator<Item = &'a Address>) -> String {
    let more = addresses.len().saturating_sub(NAMED);
    let mut names: Vec<String> = addresses.take(NAMED).map(ToString::to_string).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    all_of(&names)
}

fn tightened(view: &PlanView, TightenedQuiet { was, place, messages }: &TightenedQuiet) -> GuardRow {
    let now = view.plan.told.quiet.map(|quiet| quiet.to_string()).unwrap_or_default();
    let was = was.map_or("not set".to_owned(), |was| was.to_string());
    let with_clock = |QuietMessage { address, clock }: &QuietMessage| format!("{address} ({clock})");
    let mut names: Vec<String> = messages.iter().take(NAMED).map(with_clock).collect();
    if messages.len() > NAMED {
        names.push(format!("{} more", messages.len() - NAMED));
    }
    GuardRow {
        label: "TIGHTENED",
        address: None,
        name: format!("target {}", view.plan.target),
        words: format!("quiet_hours is now {now}, was {was}: now in quiet hours: {}", all_of(&names)),
        effect: None,
        place: place.as_ref().map(|place| format!("{}:{}", place.file, place.line)),
    }
}

/// Sentences of the verdict about loosened guards and longer quiet hours.
pub fn sentences(view: &PlanView) -> Vec<String> {
    let told = &view.plan.told;
    let (number, verb) = (told.loosened.len(), if told.loosened.len() == 1 { "was" } else { "were" });
    let through = let_through(told.loosened.iter());
    let is_known = told.loosened.iter().all(|one| one.lets_through.is_some());
    let affecting = told.loosened.iter().filter(|one| one.lets_through.as_ref().is_some_and(|all| !all.is_empty()));
    let through = match (through.len(), affecting.count()) {
        (0, _) if is_known => format!(", with {NO_EFFECT}"),
        (0, _) => String::new(),
        (_, some) if some < number => format!(", {some} of them with an effect on {}", named(through.into_iter())),
        _ => format!(", with an effect on {}", named(through.into_iter())),
    };
    let loosened = match &told.loosened[..] {
        [] => None,
        [Loosened { address: Some(address), setting, lets_through: Some(all), .. }]
            if setting == "lifecycle.broadcast" && !all.is_empty() =>
        {
            Some(format!("{address} may now reach every device: `broadcast: true` was added"))
        }
        _ => Some(format!("{} {verb} loosened{through}", count(number, "guard"))),
    };
    let tightened = told.tightened_quiet.as_ref().map(|quiet| match &quiet.messages[..] {
        [QuietMessage { address, clock }] => {
            format!("{address} is now in quiet hours ({clock}): quiet_hours was tightened")
        }
        several => format!("{} are now in quiet hours: quiet_hours was tightened", count(several.len(), "message")),
    });
    loosened.into_iter().chain(tightened).collect()
}

/// The note about further loosened guards.
pub fn more(left: usize) -> Option<String> {
    (left > 0).then(|| format!("and {} that were loosened", count(left, "more guard")))
}
