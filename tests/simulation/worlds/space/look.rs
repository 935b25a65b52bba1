//! An applier's view of the service: the real fetch machine, with incomplete lists and wrong answers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::exchange::{Answer, Request};
use pushplan::live::{Ask, Fetch, Look, Proof};
use pushplan::node::Shared;

use super::applier::{Phase, settle};
use super::choose::Choices;
use super::service::{error, parts};
use super::time::LAG;
use super::world::World;
use super::{Fault, Protection};

/// A look that waits for its second list, with its answers so far.
#[derive(Clone, Debug)]
pub struct Pause {
    pub until: Timestamp,
    start: Timestamp,
    answers: Vec<(usize, Answer, Timestamp)>,
}

impl World {
    /// Looks until everything is known, or until it has to wait. A look that waited is first repeated up to that point.
    pub fn look(&mut self, number: usize, pause: Option<&Pause>, choices: &mut Choices) {
        let applier = &self.appliers[number];
        let (units, ledger, name) =
            (self.versions[applier.version].clone(), applier.ledger.clone(), applier.name.clone());
        let now = self.clock(applier.skew).wall;
        let desired: BTreeMap<&Address, &Shared> = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let look = Look {
            level: self.setup.level,
            origin: super::ORIGIN,
            settle: settle(),
            desired: &desired,
            ledger: &ledger,
            all_kinds: false,
            contents: &BTreeSet::new(),
            confirm_absence: self.is_on(Protection::AbsenceCheck),
            recovers: true,
            proof: Proof {
                two_lists: self.is_on(Protection::TwoLists),
                reported_sends: self.is_on(Protection::ReportedSends),
                reread_updated: self.is_on(Protection::RereadUpdated),
                by_own_clock: self.is_on(Protection::OwnClock),
            },
        };
        let start = pause.map_or(now, |pause| pause.start);
        let (mut fetch, asks) = Fetch::start(look, start);
        let mut asks = VecDeque::from(asks);
        let mut answers = pause.map(|pause| pause.answers.clone()).unwrap_or_default();
        if let Some(pause) = pause {
            for (number, answer, at) in &pause.answers {
                fetch.on(*number, answer, *at).expect("it was understood before");
            }
            asks = fetch.later(now).into();
        }
        self.note(|| format!("{name} looks{}", if pause.is_some() { " again" } else { "" }));
        let at = self.as_of(choices);
        while let Some(ask) = asks.pop_front() {
            match ask {
                Ask::Get(asked, request) => {
                    let answer = self.answer(&request, at, choices);
                    answers.push((asked, answer.clone(), now));
                    match fetch.on(asked, &answer, now) {
                        Ok(more) => asks.extend(more),
                        Err(why) => {
                            self.note(|| format!("{name} stops: {why}"));
                            self.appliers[number].phase = Phase::Over;
                            return;
                        }
                    }
                }
                Ask::WaitUntil(until) => {
                    let told: Vec<String> = answers.iter().map(|(_, answer, _)| format!("{answer:?}")).collect();
                    let applier = &mut self.appliers[number];
                    applier.remember((told, start, until));
                    applier.phase = Phase::Listed(Arc::new(Pause { until, start, answers }));
                    return;
                }
            }
        }
        let live = fetch.finish();
        self.plan(number, &live);
    }

    /// Chooses the time of the answers.
    fn as_of(&mut self, choices: &mut Choices) -> i64 {
        if self.service.is_unsettled(self.now) && self.fault(choices, &[Fault::Stale]).is_some() {
            self.note(|| "  its answers show an earlier state".to_owned());
            return self.now - LAG;
        }
        i64::MAX
    }

    /// Answers a request, possibly wrongly.
    pub fn answer(&mut self, request: &Request, at: i64, choices: &mut Choices) -> Answer {
        let path = parts(request);
        let is_list = path.len() == 1 || path[0] == "reports";
        let answer = self.service.read(request, at, &[]);
        if is_list {
            let shown = match super::service::family(path[0]) {
                Some(kind) => self.service.listed(kind, at),
                None => self.service.reported(at),
            };
            if !shown.is_empty() && self.fault(choices, &[Fault::ListIncomplete]).is_some() {
                let lacks = match choices.choose(if shown.len() > 1 { shown.len() + 1 } else { 1 }) {
                    0 => shown,
                    one => vec![shown[one - 1].clone()],
                };
                self.note(|| format!("  {request} is answered without {}", lacks.join(", ")));
                return self.service.read(request, at, &lacks);
            }
        } else if answer.status == 200 && self.fault(choices, &[Fault::False404]).is_some() {
            self.note(|| format!("  {request} is answered with 404, though it exists"));
            return error(404);
        }
        answer
    }
}
