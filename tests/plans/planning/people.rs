//! People and devices are taken from their lists if that saves requests, and the result is the same.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use pushplan::address::Address;
use pushplan::exchange::{Answer, Request};
use pushplan::ledger::{Intent, Ledger, Owned, Unconfirmed, Verb};
use pushplan::live::{Ask, Fetch, Live, LiveState, Look, PrefetchedLists, Proof, Sought};
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

/// Named users with their tags in one group, and the number of them on a page.
struct Service {
    users: BTreeMap<String, Vec<String>>,
    page: usize,
    /// Whether it refuses to list them.
    refuses: bool,
    asked: Vec<String>,
}

impl Service {
    fn new(count: usize, page: usize) -> Self {
        let users = (0..count).map(|number| (user(number), vec!["gold".to_owned()])).collect();
        Self { users, page, refuses: false, asked: Vec::new() }
    }

    fn answer(&mut self, request: &Request) -> Answer {
        self.asked.push(request.path.clone());
        let record = |(id, tags): (&String, &Vec<String>)| json!({ "named_user_id": id, "tags": { "g": tags } });
        if let Some(id) = request.path.strip_prefix("/api/named_users/?id=") {
            return match self.users.get_key_value(id) {
                Some(found) => Answer::new(200, json!({ "ok": true, "named_user": record(found) })),
                None => Answer::new(404, json!({})),
            };
        }
        let start = match request.path.strip_prefix("/api/named_users") {
            Some(query) if !self.refuses => query.strip_prefix("?start=").unwrap_or_default(),
            _ => return Answer::new(403, json!({})),
        };
        let mut rest = self.users.range(start.to_owned()..);
        let items: Vec<Value> = rest.by_ref().take(self.page).map(record).collect();
        let next = rest.next().map(|(id, _)| format!("/api/named_users?start={id}"));
        Answer::new(200, json!({ "named_users": items, "next_page": next }))
    }

    fn lists(&self) -> usize {
        self.asked.iter().filter(|path| !path.contains("?id=")).count()
    }

    fn singles(&self) -> usize {
        self.asked.len() - self.lists()
    }
}

fn user(number: usize) -> String {
    format!("u-{number:07}")
}

fn address(user: &str) -> Address {
    Address::new("tag_groups", format!("g/named_users/{user}"))
}

/// A ledger with the tag `gold` of these named users.
fn ledger(users: impl IntoIterator<Item = usize>) -> Ledger {
    let mut ledger = Ledger::default();
    for user in users.into_iter().map(user) {
        let owned = Owned {
            id: user.clone(),
            spec: json!({ "group": "g", "named_user_id": user, "tags": ["gold"] }).into(),
            refs: BTreeMap::new(),
            stamp: None,
            protect: false,
            past: false,
            push_ids: Vec::new(),
            applied: Timestamp::UNIX_EPOCH,
            zone: None,
        };
        ledger.owned.insert(address(&user), owned);
    }
    ledger
}

/// The lists as they are read before the manifests are known.
fn early(service: &mut Service, ledger: &Ledger) -> PrefetchedLists {
    let mut early = PrefetchedLists::default();
    for mut sought in Sought::of(ledger, Level::Extended) {
        let mut next = Some(sought.list.request());
        while let Some(request) = next.take() {
            let Some(body) =
                Some(service.answer(&request)).filter(|answer| answer.status == 200).and_then(|it| it.body)
            else {
                return PrefetchedLists::default();
            };
            if sought.page(&body, ledger) {
                next = body["next_page"].as_str().map(Request::get);
            }
        }
        early.people.extend(sought.found());
    }
    early
}

fn fetched(service: &mut Service, ledger: &Ledger) -> Live {
    fetched_from(PrefetchedLists::default(), service, ledger)
}

fn fetched_from(early: PrefetchedLists, service: &mut Service, ledger: &Ledger) -> Live {
    let look = Look {
        level: Level::Extended,
        origin: "https://messaging.example",
        settle: SignedDuration::from_secs(10),
        desired: &BTreeMap::new(),
        ledger,
        all_kinds: false,
        contents: &BTreeSet::new(),
        confirm_absence: true,
        recovers: true,
        proof: Proof::default(),
    };
    let now: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a time");
    let (mut fetch, mut asks) = Fetch::start_from(early, look, now);
    while let Some(ask) = asks.pop() {
        let Ask::Get(number, request) = ask else { panic!("nothing is waited for") };
        let answer = service.answer(&request);
        asks.extend(fetch.on(number, &answer, now).expect("an answer that makes sense"));
    }
    assert!(fetch.is_done());
    fetch.finish()
}

/// The found tags; `None` if there are none.
fn tags(live: &Live, user: &str) -> Option<Vec<String>> {
    match live.of(&address(user)) {
        LiveState::There(found) => {
            let tags = found.spec.as_ref().expect("a spec")["tags"].as_array().expect("tags").iter();
            Some(tags.map(|tag| tag.as_str().expect("a text").to_owned()).collect())
        }
        LiveState::Absent => None,
        LiveState::Untold => panic!("the service tells"),
    }
}

#[test]
fn many_people_cost_a_request_for_each_page() {
    let mut service = Service::new(2_500, 1_000);
    let live = fetched(&mut service, &ledger(0..2_500));
    assert_eq!((service.lists(), service.singles()), (3, 0));
    assert!((0..2_500).all(|number| tags(&live, &user(number)).is_some()));
}

#[test]
fn what_is_not_as_it_was_applied_is_asked_for_alone() {
    let mut service = Service::new(1_000, 100);
    service.users.insert(user(3), vec!["silver".to_owned()]);
    service.users.remove(&user(500));
    let mut ledger = ledger(0..1_000);
    // A change whose response was lost.
    let spec = json!({ "group": "g", "named_user_id": user(700), "tags": ["vip"] }).into();
    let (refs, seen, now) = (BTreeMap::new(), BTreeSet::new(), Timestamp::UNIX_EPOCH);
    let (address, verb) = (address(&user(700)), Verb::Update);
    let intent = Intent {
        address: address.clone(),
        verb,
        id: None,
        spec: Some(spec),
        refs,
        seen,
        deadline: now,
        protect: false,
        zone: None,
    };
    ledger.open.insert(address, Unconfirmed::new(intent, now));
    let live = fetched(&mut service, &ledger);
    assert_eq!((service.lists(), service.singles()), (10, 4), "user 500, who seems gone, is looked up twice");
    assert_eq!(tags(&live, &user(3)), Some(vec!["silver".to_owned()]));
    assert_eq!(tags(&live, &user(500)), None);
}

#[test]
fn a_few_of_a_great_many_are_not_looked_for_from_page_to_page() {
    let mut service = Service::new(100_000, 100);
    fetched(&mut service, &ledger([7, 70_000, 90_000]));
    assert_eq!((service.lists(), service.singles()), (0, 3));
    service.asked.clear();
    fetched(&mut service, &ledger((0..100_000).step_by(2_000)));
    assert!(service.lists() < 3 && service.singles() >= 49, "{} and {}", service.lists(), service.singles());
    service.asked.clear();
    // All of them are at the end of the list, which cannot be known in advance.
    fetched(&mut service, &ledger(90_000..100_000));
    assert!(service.asked.len() < 10_500, "{}", service.asked.len());
    service.asked.clear();
    fetched(&mut service, &ledger((0..100_000).step_by(5)));
    assert_eq!((service.lists(), service.singles()), (1_000, 0));
}

#[test]
fn without_the_list_everybody_is_asked_for_alone() {
    let mut service = Service { refuses: true, ..Service::new(20, 10) };
    let live = fetched(&mut service, &ledger(0..20));
    assert_eq!((service.lists(), service.singles()), (1, 20));
    assert!((0..20).all(|number| tags(&live, &user(number)).is_some()));
}

#[test]
fn whom_a_list_showed_early_nobody_asks_for_again() {
    let mut service = Service::new(1_000, 100);
    service.users.insert(user(3), vec!["silver".to_owned()]);
    (500..510).for_each(|number| drop(service.users.remove(&user(number))));
    let ledger = ledger(0..1_000);
    let early = early(&mut service, &ledger);
    assert_eq!((service.lists(), service.singles()), (10, 0));
    let live = fetched_from(early, &mut service, &ledger);
    assert_eq!((service.lists(), service.singles()), (10, 21), "those who seem gone are looked up twice");
    assert_eq!(tags(&live, &user(3)), Some(vec!["silver".to_owned()]));
    assert_eq!(tags(&live, &user(505)), None);
    assert!((510..1_000).all(|number| tags(&live, &user(number)).is_some()));
}

#[test]
fn people_whose_group_gets_another_key_are_not_asked_for_one_by_one() {
    let mut service = Service::new(1_000, 100);
    let mut ledger = ledger(0..1_000);
    let early = early(&mut service, &ledger);
    service.asked.clear();
    ledger.rename(&Address::new("tag_groups", "g"), &Address::new("tag_groups", "other"));
    fetched_from(early, &mut service, &ledger);
    assert_eq!((service.lists(), service.singles()), (10, 0));
}

#[test]
fn two_who_change_their_keys_are_not_taken_for_each_other() {
    let mut service = Service::new(10, 10);
    let mut ledger = ledger(0..10);
    let early = early(&mut service, &ledger);
    let [one, other] = [0, 1].map(|number| address(&user(number)));
    let (first, second) = (ledger.owned.remove(&one), ledger.owned.remove(&other));
    ledger.owned.extend([(one.clone(), second.expect("the second")), (other.clone(), first.expect("the first"))]);
    let live = fetched_from(early, &mut service, &ledger);
    for (address, number) in [(one, 1), (other, 0)] {
        let LiveState::There(found) = live.of(&address) else { panic!("{address} is there") };
        assert_eq!(found.id, user(number), "{address}");
        assert_eq!(found.spec.as_ref().expect("a spec")["named_user_id"], user(number).as_str());
    }
}

proptest! {
    #[test]
    fn lists_change_no_answer(
        edits in proptest::collection::btree_map(0..60_usize, proptest::option::of(0..3_usize), 0..20),
        owned in proptest::collection::btree_set(0..70_usize, 0..60),
        page in 1..30_usize,
        ahead in any::<bool>(),
    ) {
        let mut service = Service::new(60, page);
        for (number, tags) in &edits {
            match tags {
                Some(count) => drop(service.users.insert(user(*number), vec!["silver".to_owned(); *count])),
                None => drop(service.users.remove(&user(*number))),
            }
        }
        let ledger = ledger(owned.iter().copied());
        let early = if ahead { early(&mut service, &ledger) } else { PrefetchedLists::default() };
        let live = fetched_from(early, &mut service, &ledger);
        let is_gone = |number: &&usize| service.users.get(&user(**number)).is_none_or(Vec::is_empty);
        let most = owned.len() + owned.iter().filter(is_gone).count() + 8;
        prop_assert!(service.asked.len() <= most, "{:?}", service.asked);
        for number in owned {
            let there = service.users.get(&user(number)).filter(|tags| !tags.is_empty()).cloned();
            prop_assert_eq!(tags(&live, &user(number)), there);
        }
    }
}
