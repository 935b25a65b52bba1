//! Fields that someone changed on the service and a plan changes again.

use pushplan_model::kinds;
use serde_json::{Map, Value};

use super::{Action, Change, Moved, Plan};

/// A field with three values: last applied, live and desired.
#[derive(Clone, Debug, PartialEq)]
pub struct Overwritten<'c> {
    /// Its path, such as `push.notification.alert`.
    pub path: String,
    /// `None`: it did not exist.
    pub last_applied: Option<&'c Value>,
    pub service: Option<&'c Value>,
    pub git: Option<&'c Value>,
}

impl Overwritten<'_> {
    /// Whether git has changed as well.
    pub fn is_of_both(&self) -> bool {
        self.git != self.last_applied
    }
}

impl Change {
    /// The fields that someone changed on the service since the last apply and that get another value. Fields that are
    /// left to the dashboard are not included.
    pub fn overwritten(&self) -> Vec<Overwritten<'_>> {
        let mut found = Vec::new();
        if let (Some(last), Some(service)) = (&self.ledger, &self.live) {
            let whole = kinds::api(&self.address).audiences();
            compare(
                whole,
                [String::new(), String::new()],
                [Some(last), Some(service), self.desired.as_deref()],
                &mut found,
            );
        }
        found
    }

    /// Whether it reverts a change made on the service: an edit or a deletion.
    pub fn undoes(&self) -> bool {
        match (self.moved, self.action) {
            (Some(Moved::Removed), Action::Create | Action::Replace) => true,
            (Some(Moved::Service | Moved::Both), Action::Update | Action::Replace | Action::Delete) => {
                !self.overwritten().is_empty()
            }
            _ => false,
        }
    }
}

/// Compares applied, live and desired state. An audience, at one of the pointers in `whole`, is one field.
fn compare<'c>(
    whole: &[&str],
    [path, pointer]: [String; 2],
    [last, service, git]: [Option<&'c Value>; 3],
    found: &mut Vec<Overwritten<'c>>,
) {
    if last == service || service == git {
        return;
    }
    let sides = [last, service, git];
    let is_map = |side: &Option<&Value>| side.is_none_or(Value::is_object);
    if sides.iter().all(is_map) && !whole.contains(&pointer.as_str()) {
        let empty = Map::new();
        let maps = sides.map(|side| side.and_then(Value::as_object).unwrap_or(&empty));
        let mut keys: Vec<&String> = maps.iter().flat_map(|map| map.keys()).collect();
        keys.sort();
        keys.dedup();
        // Empty on one side and missing on another: there are no fields to compare.
        if !keys.is_empty() {
            for key in keys {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |side: Option<&'c Value>| side.and_then(|side| side.get(key));
                compare(whole, [below, format!("{pointer}/{key}")], sides.map(of), found);
            }
            return;
        }
    }
    // A field with one or many values that has one: its author wrote no list.
    let one = |side: Option<&'c Value>| match side.and_then(Value::as_array).map(Vec::as_slice) {
        Some([item]) if item.is_object() => Some(item),
        _ => None,
    };
    if let [Some(last), Some(service), Some(git)] = sides.map(one) {
        return compare(whole, [path, format!("{pointer}/0")], [Some(last), Some(service), Some(git)], found);
    }
    found.push(Overwritten { path, last_applied: last, service, git });
}

impl Plan {
    /// Whether a removed part belongs to a resource that still exists without it: then `pull` removes it from the
    /// files.
    pub fn is_removed_part(&self, change: &Change) -> bool {
        let resource = change.address.resource();
        let is_left = |other: &Change| {
            other.moved != Some(Moved::Removed)
                && other.action != Action::Delete
                && other.address.resource() == resource
        };
        let is_there = || !kinds::api(&change.address).whole(&[]).is_null() || self.changes.iter().any(is_left);
        change.address.part().is_some() && is_there()
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::address::Address;
    use serde_json::json;

    use super::*;

    fn change(ledger: Value, live: Value, desired: Option<Value>) -> Change {
        Change {
            address: Address::new("scheduled_pushes", "sale"),
            action: if desired.is_some() { Action::Update } else { Action::Delete },
            name: String::new(),
            place: None,
            id: None,
            desired: desired.map(Into::into),
            live: Some(live.into()),
            ledger: Some(ledger.into()),
            moved: Some(Moved::Both),
            reasons: vec![],
            sends: vec![],
            protect: false,
            broadcast: false,
            ignored: vec![],
        }
    }

    fn told(ledger: Value, live: Value, desired: Option<Value>) -> Vec<String> {
        let change = change(ledger, live, desired);
        let side = |value: Option<&Value>| value.map_or("-".to_owned(), Value::to_string);
        let one = |one: &Overwritten| {
            let both = if one.is_of_both() { "both " } else { "" };
            format!("{both}{} {} {} {}", one.path, side(one.last_applied), side(one.service), side(one.git))
        };
        change.overwritten().iter().map(one).collect()
    }

    #[test]
    fn only_what_somebody_edited_and_git_says_otherwise_is_overwritten() {
        let ledger = json!({"name": "a", "push": {"alert": "x", "title": "t"}, "extra": 1});
        let live = json!({"name": "b", "push": {"alert": "y", "title": "t"}, "extra": 1});
        // The name agrees, the alert changed on both sides, the title only in git.
        let git = json!({"name": "b", "push": {"alert": "z", "title": "u"}, "extra": 1});
        assert_eq!(told(ledger.clone(), live.clone(), Some(git)), [r#"both push.alert "x" "y" "z""#]);
        // Values that are unchanged in git are restored.
        assert_eq!(
            told(ledger.clone(), live.clone(), Some(ledger.clone())),
            [r#"name "a" "b" "a""#, r#"push.alert "x" "y" "x""#]
        );
        // A deletion also deletes the edits.
        assert_eq!(told(ledger, live, None), [r#"both name "a" "b" -"#, r#"both push.alert "x" "y" -"#]);
    }

    #[test]
    fn an_audience_is_one_field_and_what_is_one_of_many_takes_no_part_in_a_path() {
        let spec = |tag: &str, at: &str| json!({"push": {"audience": {"tag": tag}}, "schedule": [{"at": at}]});
        assert_eq!(
            told(spec("a", "1"), spec("b", "2"), Some(spec("c", "3"))),
            [r#"both push.audience {"tag":"a"} {"tag":"b"} {"tag":"c"}"#, r#"both schedule.at "1" "2" "3""#]
        );
    }

    #[test]
    fn what_came_or_went_there_is_told_by_its_field() {
        let (with, without) = (json!({"push": {"ios": {"badge": 1}}}), json!({"push": {}}));
        assert_eq!(told(without.clone(), with.clone(), Some(without.clone())), ["push.ios.badge - 1 -"]);
        assert_eq!(told(with.clone(), without, Some(with)), ["push.ios.badge 1 - 1"]);
    }
}
