//! Whatever is edited, a plan names every message whose recipients change, and no device contradicts what it says of them.
//!
//! A population of 600 devices is evaluated by the real service before and after each edit. `PUSHPLAN_TRUTH_EDITS=3000` tries
//! more edits, `PUSHPLAN_TRUTH_SEED` others.

mod population;
mod projects;

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use pushplan::nouns::level::Level;
use pushplan::plan::{Action, Plan};
use pushplan::population::DeviceCount;
use pushplan::render::plan::{NextSteps, json};
use pushplan::review::{CountedAudience, Review, Side};
use pushplan_testing::Dice;
use serde_json::Value;

use crate::generated::world::World;
use population::{Population, Triggers};
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
fn lies(claims: &BTreeMap<String, Claim>, before: &Recipients, after: &Recipients, all: usize) -> Vec<String> {
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
        let is_true = is_true && (!claim.nobody || new.is_empty()) && (!claim.everyone || new.len() == all);
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
    for CountedAudience { address, side, audience, query } in Review::of(plan).counted_audiences() {
        let address = address.to_string();
        let query = query.unwrap_or_else(|| panic!("{address} is simple"));
        let on_channels = population.channels.count(&audience).unwrap_or_else(|| panic!("{address} is simple"));
        let by_service = population.count(&query).await;
        all.push(Counted { about: format!("{address} {side:?}: {query}"), address, side, by_service, on_channels });
    }
    all
}

/// Compares what was counted with who gets the messages. Returns how many audiences the channel list decides.
fn assert_counts(counted: &[Counted], before: &Recipients, after: &Recipients) -> usize {
    for Counted { about, address, side, by_service, on_channels } in counted {
        let recipients = if *side == Side::Before { before } else { after };
        let right = recipients[address].len() as u64;
        assert_eq!(*by_service, right, "{about}");
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
}

/// Several series at the same time, each on a service of its own.
#[test]
fn plans_name_every_message_whose_recipients_change() {
    let (seed, edits) = (number("PUSHPLAN_TRUTH_SEED", 20_260_101), number("PUSHPLAN_TRUTH_EDITS", 300));
    let tallies = thread::scope(|scope| {
        let series = (0..3).map(|series| scope.spawn(move || edit(seed + 1000 * series, edits.div_ceil(3))));
        series.collect::<Vec<_>>().into_iter().map(|series| series.join().expect("no lie")).collect::<Vec<_>>()
    });
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let (named, changed, decided) = (sum(|one| one.named), sum(|one| one.changed), sum(|one| one.decided));
    assert!(changed > 100 && named >= changed, "{named} messages were named, {changed} changed");
    assert!(decided > 100, "{decided} audiences were counted exactly on the channel list");
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
        for edit in 0..edits {
            let next = draft.edited(&mut dice);
            let plan = world.planned(&next.written()).await;
            let count = counted(&plan, &population).await;
            world.applied(&next.written()).await;
            population.read_channels(&world).await;
            let after = population.recipients(&world, &next).await;
            let claims = claims(&plan);
            let mut lies = lies(&claims, &before, &after, population.ios_and_android());
            let (was, is) = (draft.texts(), next.texts());
            let is_other = |address: &&String| was.get(*address).is_some_and(|text| is[*address] != *text);
            let resource = |address: &str| address.split(' ').next().unwrap_or_default().to_owned();
            let silent = is.keys().filter(is_other).filter(|address| !claims.contains_key(&resource(address)));
            lies.extend(silent.map(|address| format!("{address} says something else and is not named")));
            let about = || format!("seed {seed}, edit {edit}\n{}\nbecomes\n{}", draft.written(), next.written());
            assert!(lies.is_empty(), "{lies:#?}\n{}", about());
            tally.named += claims.len();
            tally.decided += assert_counts(&count, &before, &after);
            let is_moved =
                |(address, new): &(&String, &BTreeSet<String>)| before.get(*address).is_some_and(|old| old != *new);
            tally.changed += after.iter().filter(is_moved).count();
            (draft, before) = (next, after);
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
        let meant = |draft: &Draft| -> BTreeMap<String, Value> {
            draft.messages().into_iter().map(|(address, audience)| (address, draft.opened(&audience))).collect()
        };
        // What the service sends to, message by message.
        let mut sent = meant(&draft);
        let mut triggers: Triggers = draft.triggers().collect();
        let (mut changed, mut waiting) = (0, 0);
        for edit in 0..number("PUSHPLAN_TRUTH_EDITS", 300) / 10 {
            let next = draft.edited(&mut dice);
            let before = population.recipients_of(sent.clone(), triggers.clone()).await;
            let plan = world.planned(&next.written()).await;
            world.applied(&next.written()).await;
            population.read_channels(&world).await;
            let is = meant(&next);
            let after = population.recipients_of(is.clone(), next.triggers().collect()).await;
            let lies = lies(&claims(&plan), &before, &after, population.ios_and_android());
            let about = || format!("seed {seed}, edit {edit}\n{}\nbecomes\n{}", draft.written(), next.written());
            assert!(lies.is_empty(), "{lies:#?}\n{}", about());
            changed +=
                after.iter().filter(|(address, new)| before.get(*address).is_some_and(|old| old != *new)).count();
            let by_hand = plan.changes.iter().filter(|change| change.action == Action::ByHand);
            let by_hand: BTreeSet<String> = by_hand.map(|change| change.address.to_string()).collect();
            waiting += by_hand.len();
            sent.retain(|address, _| by_hand.contains(address));
            triggers.retain(|address, _| by_hand.contains(address));
            is.into_iter().for_each(|(address, audience)| {
                sent.entry(address).or_insert(audience);
            });
            next.triggers().for_each(|(address, tag)| {
                triggers.entry(address).or_insert(tag);
            });
            draft = next;
        }
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
