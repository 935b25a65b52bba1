//! Whatever is edited, a plan names every message whose recipients change, and no device contradicts what it says of them.
//!
//! A population of 600 devices is evaluated by the real service before and after each edit. `PUSHPLAN_TRUTH_EDITS=3000` tries
//! more edits, `PUSHPLAN_TRUTH_SEED` others.

mod population;
mod projects;

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use pushplan::nouns::level::Level;
use pushplan::plan::{Action, Choice, Plan};
use pushplan::population::DeviceCount;
use pushplan::render::plan::{NextSteps, json};
use pushplan::review::{CountedAudience, Review, Side};
use pushplan_testing::Dice;
use serde_json::Value;

use crate::generated::world::World;
use population::{Audiences, Population, Triggers, devices_of};
use projects::Draft;

/// Who gets each message, by its address.
type Recipients = BTreeMap<String, BTreeSet<String>>;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// What a plan says of one message.
#[derive(Debug)]
struct Claim {
    action: String,
    relation: Option<String>,
    everyone: bool,
    nobody: bool,
}

fn claims(plan: &Plan) -> BTreeMap<String, Claim> {
    let document: Value = serde_json::from_str(&json(plan, &NextSteps::default())).expect("JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let claim = |message: &Value| {
        let audience = &message["audience"];
        let claim = Claim {
            action: text(&message["action"]).expect("an action"),
            relation: text(&audience["relation"]),
            everyone: audience["everyone"] == true,
            nobody: audience["nobody"] == true,
        };
        (text(&message["address"]).expect("an address"), claim)
    };
    document["messages"].as_array().expect("messages").iter().map(claim).collect()
}

/// Compares what a plan says with who got each message before and who gets it after; returns what is wrong.
fn lies(
    claims: &BTreeMap<String, Claim>,
    before: &Recipients,
    after: &Recipients,
    all: impl Fn(&str) -> usize,
) -> Vec<String> {
    let mut lies = Vec::new();
    let addresses: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for address in addresses {
        let (old, new) = (before.get(address), after.get(address));
        let Some(claim) = claims.get(address) else {
            if old != new {
                lies.push(format!(
                    "{address} is not named: {:?} -> {:?} devices",
                    old.map(BTreeSet::len),
                    new.map(BTreeSet::len)
                ));
            }
            continue;
        };
        let (Some(old), Some(new)) = (old, new) else { continue };
        let is_true = match claim.relation.as_deref() {
            Some("same") => old == new,
            Some("broader") => old.is_subset(new),
            Some("narrower") => new.is_subset(old),
            Some("disjoint") => old.is_disjoint(new),
            _ => true,
        };
        let is_true = is_true && (!claim.nobody || new.is_empty()) && (!claim.everyone || new.len() == all(address));
        if !is_true {
            lies.push(format!("{address}: {claim:?}, and {} -> {} devices", old.len(), new.len()));
        }
    }
    for address in claims.keys().filter(|address| !before.contains_key(*address) && !after.contains_key(*address)) {
        lies.push(format!("{address} is named, and sends nothing"));
    }
    lies
}

/// An audience of a plan, counted before the plan is applied.
struct Counted {
    about: String,
    address: String,
    side: Side,
    by_service: u64,
    on_channels: DeviceCount,
}

/// Counts the audiences of a plan, by the service and on its channel list.
async fn counted(plan: &Plan, population: &Population) -> Vec<Counted> {
    let mut all = Vec::new();
    for CountedAudience { address, side, locale, audience, query } in Review::of(plan).counted_audiences() {
        // The recipients are those of all locales.
        if locale.is_some() {
            continue;
        }
        let address = address.to_string();
        let query = query.unwrap_or_else(|| panic!("{address} is simple"));
        let on_channels = population.channels.count(&audience).unwrap_or_else(|| panic!("{address} is simple"));
        let by_service = population.count(&query).await;
        all.push(Counted { about: format!("{address} {side:?}: {query}"), address, side, by_service, on_channels });
    }
    all
}

/// Compares what was counted with who gets the messages. Returns how many audiences the channel list decides.
fn assert_counts(counted: &[Counted], before: &Recipients, after: &Recipients, project: &dyn Fn() -> String) -> usize {
    for Counted { about, address, side, by_service, on_channels } in counted {
        let recipients = if *side == Side::Before { before } else { after };
        let right = recipients[address].len() as u64;
        assert_eq!(*by_service, right, "{about}\n{}", project());
        let is_right = on_channels.at_least <= right && right <= on_channels.at_most;
        assert!(is_right, "{about}: {on_channels:?}, and {right} devices");
    }
    counted.iter().filter(|one| one.on_channels.is_exact()).count()
}

/// What was seen in a series of edits.
#[derive(Default)]
struct Tally {
    /// Messages that a plan named.
    named: usize,
    /// Messages whose recipients changed.
    changed: usize,
    /// Audiences that were counted exactly on the channel list.
    decided: usize,
    /// Applies of a part that named a message.
    partial: usize,
}

/// Several series at the same time, each on a service of its own.
#[test]
fn plans_name_every_message_whose_recipients_change() {
    let (seed, edits) = (number("PUSHPLAN_TRUTH_SEED", 20_260_101), number("PUSHPLAN_TRUTH_EDITS", 390));
    let tallies = thread::scope(|scope| {
        let series = (0..3).map(|series| scope.spawn(move || edit(seed + 1000 * series, edits.div_ceil(3))));
        series.collect::<Vec<_>>().into_iter().map(|series| series.join().expect("no lie")).collect::<Vec<_>>()
    });
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let (named, changed, decided) = (sum(|one| one.named), sum(|one| one.changed), sum(|one| one.decided));
    assert!(changed > 100 && named >= changed, "{named} messages were named, {changed} changed");
    assert!(decided > 100, "{decided} audiences were counted exactly on the channel list");
    let partial = sum(|one| one.partial);
    assert!(partial > 5, "{partial} plans of a part named a message");
}

/// The resource of a message: `experiments/trial` of `experiments/trial 2`.
fn resource(message: &str) -> &str {
    message.split_once(' ').map_or(message, |(resource, _)| resource)
}

/// One service that can change everything, and many edits, one after the other.
fn edit(seed: u64, edits: u64) -> Tally {
    runtime().block_on(async {
        let mut dice = Dice::new(seed);
        let world = World::new(Level::Extended).await;
        let mut population = Population::new(&world, &mut dice).await;
        let mut draft = Draft::new(&mut dice);
        world.applied(&draft.written()).await;
        let mut before = population.recipients(&world, &draft).await;
        let mut tally = Tally::default();
        // What the service has: a part of the files can be left out of an apply.
        let mut has = draft.clone();
        let mut said = draft.texts();
        for edit in 0..edits {
            let next = draft.edited(&mut dice);
            let only = if dice.below(4) == 0 { next.some_addresses(&mut dice) } else { Vec::new() };
            let choice = Choice { only: only.clone(), ..Choice::default() };
            let plan = world.planned_of(&next.written(), &choice).await;
            let mut count = counted(&plan, &population).await;
            world.applied_of(&next.written(), &choice).await;
            population.read_channels(&world).await;
            let now = if only.is_empty() { next.clone() } else { has.with_parts_of(&next, &only) };
            // A till that is new is on no list yet.
            if now.has_new_tills(&has) {
                count.retain(|one| one.side == Side::Before || !now.is_to_tills(&one.address));
            }
            let after = population.recipients(&world, &now).await;
            let claims = claims(&plan);
            let mut lies = lies(&claims, &before, &after, population.all(&now));
            let texts = next.texts();
            if only.is_empty() {
                let is_other = |address: &&String| said.get(*address).is_some_and(|text| texts[*address] != *text);
                let silent = texts.keys().filter(is_other).filter(|address| !claims.contains_key(resource(address)));
                lies.extend(silent.map(|address| format!("{address} says something else and is not named")));
            }
            let about =
                || format!("seed {seed}, edit {edit}, only {only:?}\n{}\nbecomes\n{}", has.written(), next.written());
            assert!(lies.is_empty(), "{lies:#?}\n{}", about());
            tally.partial += usize::from(!only.is_empty() && !claims.is_empty());
            tally.named += claims.len();
            tally.decided += assert_counts(&count, &before, &after, &about);
            let is_moved =
                |(address, new): &(&String, &BTreeSet<String>)| before.get(*address).is_some_and(|old| old != *new);
            tally.changed += after.iter().filter(is_moved).count();
            // A message that is applied has the text of its template from then on, whether or not that template is applied.
            let is_applied = |address: &str| only.is_empty() || only.iter().any(|one| one == resource(address));
            said.retain(|address, _| !is_applied(address));
            said.extend(texts.into_iter().filter(|(address, _)| is_applied(address)));
            (draft, has, before) = (next, now, after);
        }
        world.stop().await;
        tally
    })
}

/// Where the API changes nothing in place, devices decide as well: what stays until a person has done something reaches whom it
/// reached, and a plan says who gets it then.
#[test]
fn plans_of_a_documented_target_name_every_message_whose_recipients_change() {
    runtime().block_on(async {
        let seed = number("PUSHPLAN_TRUTH_SEED", 20_260_101) + 2;
        let mut dice = Dice::new(seed);
        let world = World::new(Level::Documented).await;
        let mut population = Population::new(&world, &mut dice).await;
        let mut draft = Draft::new(&mut dice);
        world.applied(&draft.written()).await;
        let meant = |draft: &Draft| -> Audiences {
            let messages = draft.messages().into_iter();
            messages
                .map(|(address, audience)| {
                    let devices = devices_of(draft, &address);
                    (address, (draft.opened(&audience), devices))
                })
                .collect()
        };
        // What the service sends to, message by message.
        let mut sent = meant(&draft);
        let mut triggers: Triggers = draft.triggers().collect();
        // What it would have if a person had done their part.
        let mut has = draft.clone();
        let (mut changed, mut waiting, mut partial) = (0, 0, 0);
        for edit in 0..number("PUSHPLAN_TRUTH_EDITS", 300) / 5 {
            let next = draft.edited(&mut dice);
            let only = if dice.below(3) == 0 { next.some_addresses(&mut dice) } else { Vec::new() };
            let choice = Choice { only: only.clone(), ..Choice::default() };
            let before = population.recipients_of(sent.clone(), triggers.clone()).await;
            let plan = world.planned_of(&next.written(), &choice).await;
            world.applied_of(&next.written(), &choice).await;
            population.read_channels(&world).await;
            let now = if only.is_empty() { next.clone() } else { has.with_parts_of(&next, &only) };
            let is_chosen = |address: &String| only.is_empty() || only.contains(address);
            let mut is = meant(&now);
            let mut is_triggered: Triggers = now.triggers().collect();
            // What is left out goes on as it is, with the segments that it points at.
            is.retain(|address, _| is_chosen(address));
            is_triggered.retain(|address, _| is_chosen(address));
            let rest = sent.iter().filter(|(address, _)| !is_chosen(address));
            is.extend(rest.map(|(address, audience)| (address.clone(), audience.clone())));
            let rest = triggers.iter().filter(|(address, _)| !is_chosen(address));
            is_triggered.extend(rest.map(|(address, tag)| (address.clone(), *tag)));
            let after = population.recipients_of(is.clone(), is_triggered.clone()).await;
            let claims = claims(&plan);
            let lies = lies(&claims, &before, &after, population.all(&now));
            let about =
                || format!("seed {seed}, edit {edit}, only {only:?}\n{}\nbecomes\n{}", has.written(), next.written());
            assert!(lies.is_empty(), "{lies:#?}\n{}", about());
            changed +=
                after.iter().filter(|(address, new)| before.get(*address).is_some_and(|old| old != *new)).count();
            partial += usize::from(!only.is_empty() && !claims.is_empty());
            let by_hand = plan.changes.iter().filter(|change| change.action == Action::ByHand);
            let by_hand: BTreeSet<String> = by_hand.map(|change| change.address.to_string()).collect();
            waiting += by_hand.len();
            sent.retain(|address, _| by_hand.contains(address));
            triggers.retain(|address, _| by_hand.contains(address));
            // One that is new can wait for a similar one that a person has to cancel.
            let made: BTreeSet<String> = plan.steps.iter().map(|step| step.address.to_string()).collect();
            let is_sent = |address: &String| before.contains_key(address) || made.contains(address);
            for (address, audience) in is.into_iter().filter(|(address, _)| is_sent(address)) {
                sent.entry(address).or_insert(audience);
            }
            for (address, tag) in is_triggered.into_iter().filter(|(address, _)| is_sent(address)) {
                triggers.entry(address).or_insert(tag);
            }
            (draft, has) = (next, now);
        }
        assert!(partial > 1, "{partial} plans of a part named a message");
        assert!(changed > 10 && waiting > 10, "{changed} messages changed, {waiting} waited for a person");
        world.stop().await;
    });
}

/// Where the API changes nothing in place, a plan names the same messages with the same words.
#[test]
fn both_api_levels_name_the_same_messages() {
    runtime().block_on(async {
        let mut dice = Dice::new(number("PUSHPLAN_TRUTH_SEED", 20_260_101) + 1);
        for edit in 0..number("PUSHPLAN_TRUTH_EDITS", 300) / 4 {
            let draft = Draft::new(&mut dice);
            let next = draft.edited(&mut dice);
            let mut told = Vec::new();
            for level in [Level::Documented, Level::Extended] {
                let world = World::new(level).await;
                world.applied(&draft.written()).await;
                let claims = claims(&world.planned(&next.written()).await);
                let told_of = claims
                    .into_iter()
                    .map(|(address, claim)| format!("{address} {} {:?}", claim.action, claim.relation));
                told.push(told_of.collect::<Vec<_>>());
                world.stop().await;
            }
            assert_eq!(told[0], told[1], "edit {edit}\n{}\nbecomes\n{}", draft.written(), next.written());
        }
    });
}
