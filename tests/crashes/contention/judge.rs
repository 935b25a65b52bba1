//! The invariants after every storm.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::storm::{LEASE, Team};
use super::witness::Write;

/// One run, according to the ledger.
#[derive(Debug)]
struct Run {
    actor: String,
    begun: Timestamp,
    /// The times of its records: each record extends its lease.
    heard: Vec<Timestamp>,
    /// The requests that it announced, with their times: `create segments/a`.
    intended: Vec<(Timestamp, String)>,
    ended: Option<Timestamp>,
}

impl Team {
    /// Compares the service, the sent requests and the ledger with each other. Returns a summary.
    pub fn judge(&self, about: &str) -> String {
        let told = || format!("{about}\n{}", self.everything());
        self.holds_what_is_declared(about);
        let writes = self.witness.all();
        let logged = self.service.writes().len();
        assert_eq!(logged, writes.len() - self.earlier, "all that the service got came by the witness: {}", told());
        let verified = self.run(0, 0, &["ledger", "verify"]);
        assert_eq!(verified.code, 0, "{about}: {verified}");
        let history = self.one_history(about);
        let runs = runs(&history);
        let names = made_once(&writes).unwrap_or_else(|why| panic!("{why}: {}", told()));
        let mut least = SignedDuration::MAX;
        for write in &writes[self.earlier..] {
            let left = sent_in_turn(write, &runs, &names).unwrap_or_else(|why| {
                panic!("{why}: {write:#?}\n{runs:#?}\n{}", told());
            });
            least = least.min(left);
        }
        let taken = runs.iter().filter(|run| run.ended.is_none()).count();
        let records = history.len();
        format!(
            "{records} records, {taken} runs taken over so far, {} ms of a lease left at the least",
            least.as_millis()
        )
    }

    /// Each declared resource exists once, as declared, and no other exists.
    fn holds_what_is_declared(&self, about: &str) {
        let listed = |path: &str, list: &str| {
            let body = self.service.get(path);
            assert_eq!(body["next_page"], Value::Null, "one page has them all");
            body[list].as_array().expect("a list").clone()
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut segments: Vec<(String, String)> = listed("/api/segments?limit=1000", "segments")
            .iter()
            .map(|one| {
                let whole = self.service.get(&format!("/api/segments/{}", text(&one["id"])));
                (text(&one["display_name"]), text(&whole["criteria"]["tag"]))
            })
            .collect();
        let mut templates: Vec<(String, String)> = listed("/api/templates?page_size=1000", "templates")
            .iter()
            .map(|one| (text(&one["name"]), text(&one["push"]["notification"]["alert"])))
            .collect();
        segments.sort();
        templates.sort();
        let declared = |all: &BTreeMap<String, String>| Vec::from_iter(all.clone());
        assert_eq!(segments, declared(&self.declared.segments), "{about}\n{}", self.everything());
        assert_eq!(templates, declared(&self.declared.templates), "{about}\n{}", self.everything());
    }

    /// The records, which every member reads the same.
    fn one_history(&self, about: &str) -> Vec<Value> {
        let read = |member| {
            let ran = self.run(member, 0, &["ledger", "export", "--records"]);
            assert_eq!(ran.code, 0, "{about}: member {member}: {ran}");
            ran.stdout
        };
        let first = read(0);
        for member in self.members().skip(1) {
            assert!(read(member) == first, "{about}: member {member} reads another history");
        }
        let records: Vec<Value> = first.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
        for (record, expected) in records.iter().zip(1..) {
            assert_eq!(record["seq"], Value::from(expected), "{about}: every place is taken once");
        }
        records
    }
}

fn runs(history: &[Value]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for entry in history {
        let at: Timestamp = entry["at"].as_str().and_then(|at| at.parse().ok()).expect("a time");
        let actor = entry["actor"].as_str().expect("somebody");
        let record = &entry["record"];
        if record.get("begin").is_some() {
            let (heard, intended) = (vec![], vec![]);
            runs.push(Run { actor: actor.to_owned(), begun: at, heard, intended, ended: None });
        }
        let Some(run) = runs.last_mut().filter(|run| run.actor == actor) else { continue };
        run.heard.push(at);
        for intent in record.get("intents").and_then(Value::as_array).into_iter().flatten() {
            let (verb, address) = (intent["verb"].as_str().expect("a verb"), intent["address"].as_str().expect("one"));
            run.intended.push((at, format!("{verb} {address}")));
        }
        if record.get("end").is_some() {
            run.ended = Some(at);
        }
    }
    runs
}

/// Checks that nothing was created while it existed. If the service cannot change a resource, a new one with other
/// content is created before the old one is deleted. Returns the addresses of all created resources, by their ids.
fn made_once(writes: &[Write]) -> Result<BTreeMap<String, String>, String> {
    let mut names = BTreeMap::new();
    let mut there: Vec<(&str, String, &Value)> = Vec::new();
    for write in writes.iter().filter(|write| (200..300).contains(&write.status)) {
        match (write.method.as_str(), address(write)) {
            ("DELETE", Some((_, Some(gone)))) => there.retain(|(id, ..)| *id != gone),
            (_, Some((address, None))) => {
                let id = ["segment_id", "template_id"].iter().find_map(|name| write.answer[name].as_str());
                let id = id.ok_or_else(|| format!("an answer without an id: {write:#?}"))?;
                let others: Vec<_> = there.iter().filter(|(_, other, _)| *other == address).collect();
                if let Some((other, ..)) = others.iter().find(|(.., body)| **body == write.body) {
                    return Err(format!("{address} is made as {id} while it is there as {other}"));
                }
                if others.len() > 1 {
                    return Err(format!("{address} is made as {id} while it is there as {others:?}"));
                }
                names.insert(id.to_owned(), address.clone());
                there.push((id, address, &write.body));
            }
            (_, Some((_, Some(changed)))) => {
                for (_, _, body) in there.iter_mut().filter(|(id, ..)| *id == changed) {
                    *body = &write.body;
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

/// The subject of a request, as far as the request shows it: an address, and the id of an existing resource.
fn address(write: &Write) -> Option<(String, Option<String>)> {
    let mut parts = write.path.trim_start_matches("/api/").split('/');
    let (kind, id) = (parts.next()?, parts.next().map(str::to_owned));
    let name = write.body["display_name"].as_str().or(write.body["name"].as_str());
    Some((format!("{kind}/{}", name.unwrap_or_default()), id))
}

/// Checks that a request was seen within its sender's turn: after its intent was recorded, before the lease expired,
/// and before another run began. Returns the remaining time of the lease.
fn sent_in_turn(write: &Write, runs: &[Run], names: &BTreeMap<String, String>) -> Result<SignedDuration, String> {
    let sender = format!("{}-", write.member);
    let place = runs.iter().rposition(|run| run.actor.starts_with(&sender) && run.begun <= write.at);
    let place = place.ok_or("sent by somebody who had not begun")?;
    let run = &runs[place];
    if let Some(next) = runs.get(place + 1).filter(|next| next.begun <= write.at) {
        return Err(format!("sent after {} had begun", next.actor));
    }
    if run.ended.is_some_and(|ended| ended < write.at) {
        return Err("sent after the end of its run".to_owned());
    }
    let heard = run.heard.iter().filter(|heard| **heard <= write.at).max().ok_or("no record before it")?;
    let left = SignedDuration::from_secs(LEASE) - write.at.duration_since(*heard);
    if left.is_negative() {
        return Err(format!("sent {} ms after its lease was over", -left.as_millis()));
    }
    let what = match address(write) {
        Some((address, None)) => format!("create {address}"),
        Some((_, Some(id))) => {
            let verb = if write.method == "DELETE" { "delete" } else { "update" };
            let address = names.get(&id).ok_or("about something that nobody made")?;
            format!("{verb} {address}")
        }
        None => return Err("sent nobody knows where".to_owned()),
    };
    match run.intended.iter().any(|(at, intended)| *intended == what && *at <= write.at) {
        true => Ok(left),
        false => Err(format!("`{what}` was sent without having been written down")),
    }
}

/// A history of two runs with their requests, in which one thing at a time is wrong.
mod tests {
    use super::*;
    use serde_json::json;

    const NIGHT: &str = "2030-01-01T00:00:00Z";

    fn at(millis: i64) -> Timestamp {
        NIGHT.parse::<Timestamp>().expect("a time") + SignedDuration::from_millis(millis)
    }

    fn record(millis: i64, actor: &str, record: &Value) -> Value {
        json!({ "at": at(millis).to_string(), "actor": actor, "record": record })
    }

    /// Ada dies, and Ben takes over when her lease has expired.
    fn history() -> Vec<Value> {
        let intent = |verb: &str| json!({ "intents": [{ "verb": verb, "address": "segments/a" }] });
        vec![
            record(0, "1-1 (host)", &json!({ "begin": {} })),
            record(100, "1-1 (host)", &intent("create")),
            record(3000, "2-1 (host)", &json!({ "begin": {} })),
            record(3100, "2-1 (host)", &intent("delete")),
            record(4000, "2-1 (host)", &json!({ "end": {} })),
        ]
    }

    fn write(member: usize, millis: i64, method: &str, path: &str, body: Value) -> Write {
        let answer = json!({ "segment_id": "i1" });
        Write { member, at: at(millis), method: method.into(), path: path.into(), body, status: 201, answer }
    }

    fn create(member: usize, millis: i64) -> Write {
        write(member, millis, "POST", "/api/segments", json!({ "display_name": "a" }))
    }

    fn judged(write: &Write) -> Result<i128, String> {
        let names = BTreeMap::from([("i1".to_owned(), "segments/a".to_owned())]);
        sent_in_turn(write, &runs(&history()), &names).map(|left| left.as_millis())
    }

    #[test]
    fn whoever_sends_in_turn_is_seen_to() {
        assert_eq!(judged(&create(1, 600)), Ok(1500), "a lease of two seconds counts from the newest record");
        assert_eq!(judged(&write(2, 3500, "DELETE", "/api/segments/i1", Value::Null)), Ok(1600));
    }

    #[test]
    fn whoever_sends_out_of_turn_is_noticed() {
        let wrong = [
            (create(3, 600), "sent by somebody who had not begun"),
            (create(1, 50), "`create segments/a` was sent without having been written down"),
            (create(1, 2200), "sent 100 ms after its lease was over"),
            (create(1, 3050), "sent after 2-1 (host) had begun"),
            (create(2, 3500), "`create segments/a` was sent without having been written down"),
            (write(2, 4100, "DELETE", "/api/segments/i1", Value::Null), "sent after the end of its run"),
            (write(2, 3500, "DELETE", "/api/segments/i2", Value::Null), "about something that nobody made"),
        ];
        for (write, why) in wrong {
            assert_eq!(judged(&write), Err(why.to_owned()), "{write:?}");
        }
    }

    #[test]
    fn what_is_made_twice_is_noticed() {
        let gone = write(1, 700, "DELETE", "/api/segments/i1", Value::Null);
        assert!(made_once(&[create(1, 600), gone.clone(), create(1, 800)]).is_ok(), "it was deleted between");
        let twice = made_once(&[create(1, 600), create(2, 800)]).expect_err("it is there twice");
        assert_eq!(twice, "segments/a is made as i1 while it is there as i1");
        let refused = Write { status: 503, ..gone };
        assert!(made_once(&[create(1, 600), refused, create(1, 800)]).is_err(), "it was not deleted");
    }
}
