//! The faults of the proxy, and the requests that they hit.

use std::fmt;

use pushplan_testing::Dice;
use pushplan_testing::wire::{self, Asked};
use serde_json::{Value, json};

/// Before the request reaches the service, or after: then only the answer is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Before,
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed without an answer.
    Reset(When),
    /// The connection is closed, and the request reaches the service once the process has ended.
    Late,
    /// An answer with this status: 408 or 5xx.
    Status(u16, When),
    /// 429: the service did nothing.
    TooMany,
    /// 200 with `"ok": false`.
    NotOk(When),
    /// 200 with a page in place of JSON.
    Garbage,
    /// Half of the answer.
    Truncated,
    /// The answer takes a while.
    Slow,
    /// 404 for an existing thing.
    NotFound,
    /// An empty list.
    Empty,
    /// A list without the last half of its items, at least one.
    Cut,
    /// The process is killed.
    Kill(When),
}

/// Requests that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Any request except a GET.
    Write,
    Delete,
    /// The list of one kind.
    List(&'static str),
    /// A GET of one thing.
    One,
}

/// The n-th request of a kind gets a fault, once. Each run counts from the start.
#[derive(Clone, Debug)]
pub struct Rule {
    pub on: On,
    pub nth: usize,
    pub fault: Fault,
    pub seen: usize,
}

/// The lists of the service: the path, and the field with the items.
pub const LISTS: [(&str, &str); 8] = [
    ("/api/segments", "segments"),
    ("/api/templates", "templates"),
    ("/api/pipelines", "pipelines"),
    ("/api/schedules", "schedules"),
    ("/api/experiments", "experiments"),
    ("/api/tags", "tags"),
    ("/api/channels", "channels"),
    ("/api/named_users", "named_users"),
];

/// The list that a request asks for.
pub fn list(asked: &Asked) -> Option<(&'static str, &'static str)> {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let is_one = query.split('&').any(|pair| pair.starts_with("id="));
    let path = path.trim_end_matches('/');
    LISTS.into_iter().find(|(list, _)| asked.method == "GET" && !is_one && *list == path)
}

impl On {
    pub fn is(self, asked: &Asked) -> bool {
        let is_api = asked.target.starts_with("/api/");
        is_api
            && match self {
                Self::Write => asked.method != "GET",
                Self::Delete => asked.method == "DELETE",
                Self::List(path) => list(asked).is_some_and(|(list, _)| list == path),
                Self::One => asked.method == "GET" && list(asked).is_none(),
            }
    }
}

impl Rule {
    /// A list that is wrong once, right after the response about a thing of its kind was lost.
    pub fn about(struck: &str, dice: &mut Dice) -> Option<Self> {
        let (list, _) = LISTS.into_iter().find(|(list, _)| struck.starts_with(list))?;
        let fault = *dice.pick(&[Fault::Empty, Fault::Cut, Fault::Empty, Fault::Reset(When::After)]);
        Some(Self { on: On::List(list), nth: 1 + dice.below(3), fault, seen: 0 })
    }

    /// Whether the answer to a read claims that an existing thing is gone.
    pub fn lies(&self) -> bool {
        matches!((self.on, self.fault), (On::List(_), Fault::Empty | Fault::Cut) | (On::One, Fault::NotFound))
    }

    pub fn random(dice: &mut Dice) -> Self {
        let when = *dice.pick(&[When::Before, When::After]);
        let status = *dice.pick(&[500, 502, 503, 504]);
        let on = match dice.below(20) {
            0..10 => On::Write,
            10..12 => On::Delete,
            // Schedules matter most, and single lists are often not requested at all.
            12..15 => On::List("/api/schedules"),
            15..18 => On::List(dice.pick(&LISTS).0),
            _ => On::One,
        };
        let fault = match (on, dice.below(12)) {
            (On::Delete, 0..5) | (On::One, 0..6) => Fault::NotFound,
            (On::List(_), 0..3) => Fault::Empty,
            (On::List(_), 3..6) => Fault::Cut,
            (On::List(_) | On::One, 6) => Fault::Truncated,
            (On::List(_) | On::One, 7) => Fault::Garbage,
            (On::List(_) | On::One, 8) => Fault::NotOk(When::Before),
            (_, 0..2) => Fault::Reset(when),
            (_, 2) => Fault::Late,
            (_, 3) => Fault::Status(408, when),
            (_, 4) => Fault::Status(status, when),
            (_, 5) => Fault::NotOk(when),
            (_, 6) => Fault::Garbage,
            (_, 7) => Fault::Truncated,
            (_, 8) => Fault::TooMany,
            (_, 9) => Fault::Slow,
            (_, _) => Fault::Kill(when),
        };
        let nth = match on {
            On::Write => 1 + dice.below(10),
            On::Delete => 1 + dice.below(2),
            On::List(_) | On::One => 1 + dice.below(3),
        };
        Self { on, nth, fault, seen: 0 }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = match self.on {
            On::Write => "write".to_owned(),
            On::Delete => "DELETE".to_owned(),
            On::List(path) => format!("list {path}"),
            On::One => "GET of one thing".to_owned(),
        };
        write!(f, "{:?} for {on} {}", self.fault, self.nth)
    }
}

/// An answer that does not come from the service.
pub fn answer(status: &str, body: &Value) -> Vec<u8> {
    let kind = "content-type: application/vnd.messaging+json; version=3\r\n";
    wire::say(status, kind, body.to_string().as_bytes()).expect("an answer")
}

pub fn failure(status: u16) -> Vec<u8> {
    let body =
        json!({ "ok": false, "operation_id": "proxy", "error": "something went wrong", "error_code": status * 100 });
    answer(&format!("{status} Wrong"), &body)
}

/// A shortened list, without a note about missing items.
pub fn shortened(said: &[u8], field: &str, is_empty: bool) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(said);
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 200") {
        return None;
    }
    let mut body: Value = serde_json::from_str(body).ok()?;
    let items = body[field].as_array_mut()?;
    let kept = if is_empty { 0 } else { items.len() / 2 };
    items.truncate(kept);
    for count in ["count", "total_count"] {
        if body[count].is_number() {
            body[count] = kept.into();
        }
    }
    if body.get("next_page").is_some() {
        body["next_page"] = Value::Null;
    }
    Some(answer("200 OK", &body))
}
