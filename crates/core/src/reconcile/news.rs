//! Changes since the last report.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;

use super::{Item, Standing};

/// The states of targets, and the states in the last report.
#[derive(Clone, Debug, Default)]
pub struct News {
    now: BTreeMap<String, Standing>,
    told: BTreeMap<String, Standing>,
    /// Differences that were corrected since the last report, each in its last form.
    corrected: BTreeMap<String, BTreeMap<Address, Item>>,
}

/// The news of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetNews {
    pub target: String,
    /// The complete current state.
    pub standing: Standing,
    /// Differences that are new or changed since the last report.
    pub began: Vec<Item>,
    /// Differences of the last report that no longer exist, also if pushplan did not correct them.
    pub over: Vec<Item>,
    /// Differences that were corrected since the last report. They need not have been reported before.
    pub corrected: Vec<Item>,
}

impl News {
    /// Takes over the state of a target at the end of a round, and the corrected differences.
    pub fn learn(&mut self, target: &str, standing: Standing, corrected: Vec<Item>) {
        self.now.insert(target.to_owned(), standing);
        let all = self.corrected.entry(target.to_owned()).or_default();
        all.extend(corrected.into_iter().map(|item| (item.address.clone(), item)));
    }

    /// Keeps only these targets: others no longer exist.
    pub fn keep(&mut self, targets: &BTreeSet<&str>) {
        let is_there = |target: &String| targets.contains(target.as_str());
        self.now.retain(|target, _| is_there(target));
        self.told.retain(|target, _| is_there(target));
        self.corrected.retain(|target, _| is_there(target));
    }

    /// The news, in the order of targets; empty if nothing has changed since the last report. A target that was never
    /// reported counts as in sync.
    pub fn pending(&self) -> Vec<TargetNews> {
        self.now.iter().filter_map(|(target, standing)| self.of(target, standing)).collect()
    }

    fn of(&self, target: &str, standing: &Standing) -> Option<TargetNews> {
        let none = Standing::default();
        let before = self.told.get(target).unwrap_or(&none);
        let corrected: Vec<Item> =
            self.corrected.get(target).map(|all| all.values().cloned().collect()).unwrap_or_default();
        if before == standing && corrected.is_empty() {
            return None;
        }
        let is_there = |address: &Address, items: &[Item]| items.iter().any(|item| item.address == *address);
        let began = standing.items.iter().filter(|item| !before.items.contains(item)).cloned().collect();
        let is_over = |item: &&Item| !is_there(&item.address, &standing.items) && !is_there(&item.address, &corrected);
        let over = before.items.iter().filter(is_over).cloned().collect();
        Some(TargetNews { target: target.to_owned(), standing: standing.clone(), began, over, corrected })
    }

    /// Marks all news as reported.
    pub fn settle(&mut self) {
        self.told = self.now.clone();
        self.corrected.clear();
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::digest::Digest;

    use super::*;
    use crate::guard::{Guard, Refused};
    use crate::plan::Action;
    use crate::reconcile::Cause;

    fn item(key: &str, state: &str) -> Item {
        Item {
            address: Address::new("segments", key),
            action: Action::Update,
            cause: Cause::Service,
            fields: Vec::new(),
            state: Digest::of(state.as_bytes()),
        }
    }

    fn standing(items: &[(&str, &str)]) -> Standing {
        Standing { items: items.iter().map(|(key, state)| item(key, state)).collect(), refused: Vec::new() }
    }

    fn keys(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| item.address.key.as_str()).collect()
    }

    #[test]
    fn what_is_in_sync_from_the_beginning_is_no_news() {
        let mut news = News::default();
        news.learn("local", Standing::default(), Vec::new());
        assert_eq!(news.pending(), []);
    }

    #[test]
    fn a_drift_is_news_once_and_again_when_it_is_another() {
        let mut news = News::default();
        news.learn("local", standing(&[("a", "1")]), Vec::new());
        assert_eq!(keys(&news.pending()[0].began), ["a"]);
        assert_eq!(news.pending().len(), 1, "until it was told, it is still to be told");
        news.settle();
        news.learn("local", standing(&[("a", "1")]), Vec::new());
        assert_eq!(news.pending(), []);
        news.learn("local", standing(&[("a", "2"), ("b", "1")]), Vec::new());
        assert_eq!(keys(&news.pending()[0].began), ["a", "b"]);
        news.settle();
        news.learn("local", standing(&[("b", "1")]), Vec::new());
        let told = news.pending();
        assert_eq!((keys(&told[0].over), told[0].began.len()), (vec!["a"], 0));
        assert_eq!(keys(&told[0].standing.items), ["b"]);
    }

    #[test]
    fn what_is_corrected_at_once_is_told_once() {
        let mut news = News::default();
        news.learn("local", Standing::default(), vec![item("a", "1")]);
        assert_eq!(keys(&news.pending()[0].corrected), ["a"]);
        news.learn("local", Standing::default(), vec![item("b", "1")]);
        assert_eq!(keys(&news.pending()[0].corrected), ["a", "b"], "nothing is lost while nobody could be told");
        news.settle();
        news.learn("local", Standing::default(), Vec::new());
        assert_eq!(news.pending(), []);
    }

    #[test]
    fn what_was_told_to_drift_and_is_corrected_is_not_over_by_itself() {
        let mut news = News::default();
        news.learn("local", standing(&[("a", "1")]), Vec::new());
        news.settle();
        news.learn("local", Standing::default(), vec![item("a", "1")]);
        let told = news.pending();
        assert_eq!((keys(&told[0].corrected), told[0].over.len()), (vec!["a"], 0));
    }

    #[test]
    fn another_refusal_of_the_same_drift_is_news() {
        let mut news = News::default();
        news.learn("local", standing(&[("a", "1")]), Vec::new());
        news.settle();
        let refusal =
            Refused { guard: Guard::Deletes, message: "too many".into(), help: "fewer".into(), addresses: Vec::new() };
        news.learn("local", Standing { refused: vec![refusal], ..standing(&[("a", "1")]) }, Vec::new());
        assert_eq!((news.pending().len(), news.pending()[0].began.len()), (1, 0));
    }

    #[test]
    fn a_target_that_is_gone_is_not_told_of() {
        let mut news = News::default();
        news.learn("a", standing(&[("x", "1")]), Vec::new());
        news.learn("b", standing(&[("x", "1")]), Vec::new());
        news.keep(&BTreeSet::from(["b"]));
        let targets: Vec<String> = news.pending().into_iter().map(|told| told.target).collect();
        assert_eq!(targets, ["b"]);
    }
}
