//! Reads a file of faults.
//!
//! `sample.toml` next to this file shows everything that it can contain. The kinds and their keys are in [`KINDS`].

use std::time::Duration;

use hyper::header::HeaderValue;
use pushplan_model::source::Source;
use pushplan_model::text;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::{Fault, Lag, Rule, Rules, When, is_api};
use crate::config::{at, instead, read as read_toml};

/// The kinds of fault, with the keys that each has in addition to those of every rule.
const KINDS: &[(&str, &[&str])] = &[
    ("refuse", &[]),
    ("close", &["when"]),
    ("status", &["status", "when"]),
    ("rate-limit", &["retry_after"]),
    ("delay", &["ms", "when"]),
    ("truncate", &[]),
    ("garble", &[]),
    ("html", &["when"]),
    ("duplicate", &[]),
    ("reorder", &[]),
    ("loop", &[]),
    ("lag", &["writes", "ms"]),
];

/// The methods that a rule may name.
const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultFile {
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    fault: Vec<Spanned<FaultTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultTable {
    kind: Option<Spanned<String>>,
    method: Option<Spanned<String>>,
    path: Option<Spanned<String>>,
    probability: Option<Spanned<f64>>,
    times: Option<u64>,
    after: Option<u64>,
    when: Option<Spanned<String>>,
    status: Option<Spanned<u16>>,
    retry_after: Option<Spanned<Value>>,
    ms: Option<Spanned<u64>>,
    writes: Option<Spanned<usize>>,
}

/// Reads a file of faults. The error is the first problem, with its position.
pub fn read(source: &Source) -> anyhow::Result<Rules> {
    let file: FaultFile = read_toml(source)?;
    let rules = file.fault.iter().map(|entry| rule(source, entry));
    Ok(Rules { seed: file.seed, rules: rules.collect::<Result<_, _>>()? })
}

fn rule(source: &Source, entry: &Spanned<FaultTable>) -> anyhow::Result<Rule> {
    let place = entry.span();
    let entry = entry.get_ref();
    match &entry.kind {
        Some(kind) => RuleReader { source, entry, kind }.rule(),
        None => Err(at(source, place, &format!("missing field `kind`, which is {}", text::any_of(&kinds())))),
    }
}

/// Returns all kinds, for messages.
fn kinds() -> Vec<String> {
    KINDS.iter().map(|(kind, _)| format!("\"{kind}\"")).collect()
}

struct RuleReader<'f> {
    source: &'f Source,
    entry: &'f FaultTable,
    kind: &'f Spanned<String>,
}

impl RuleReader<'_> {
    fn wrong<T, R>(&self, value: &Spanned<T>, why: impl AsRef<str>) -> anyhow::Result<R> {
        Err(at(self.source, value.span(), why.as_ref()))
    }

    fn rule(&self) -> anyhow::Result<Rule> {
        self.only_known_keys()?;
        Ok(Rule {
            method: self.method()?,
            path: self.path()?,
            probability: self.probability()?,
            times: self.entry.times,
            after: self.entry.after.unwrap_or(0),
            fault: self.fault()?,
        })
    }

    /// Refuses keys that the kind does not have, because they would have no effect.
    fn only_known_keys(&self) -> anyhow::Result<()> {
        let FaultTable { when, status, retry_after, ms, writes, .. } = self.entry;
        let name = self.kind.get_ref().as_str();
        let Some((_, known)) = KINDS.iter().find(|(kind, _)| *kind == name) else {
            let given = format!("\"{name}\"");
            return self.wrong(self.kind, format!("there is no fault {given}; {}", instead(&given, &kinds())));
        };
        let given = [
            ("when", when.as_ref().map(Spanned::span)),
            ("status", status.as_ref().map(Spanned::span)),
            ("retry_after", retry_after.as_ref().map(Spanned::span)),
            ("ms", ms.as_ref().map(Spanned::span)),
            ("writes", writes.as_ref().map(Spanned::span)),
        ];
        for (key, place) in given {
            if let Some(place) = place
                && !known.contains(&key)
            {
                return Err(at(self.source, place, &format!("`{key}` means nothing to the fault \"{name}\"")));
            }
        }
        Ok(())
    }

    fn method(&self) -> anyhow::Result<Option<String>> {
        match &self.entry.method {
            Some(method) if !METHODS.contains(&method.get_ref().as_str()) => {
                self.wrong(method, format!("a method is {}", text::any_of(METHODS)))
            }
            method => Ok(method.as_ref().map(|method| method.get_ref().clone())),
        }
    }

    fn path(&self) -> anyhow::Result<String> {
        let Some(path) = &self.entry.path else { return Ok("/api/*".into()) };
        let text = path.get_ref();
        if !is_api(text.split('*').next().unwrap_or_default()) {
            return self.wrong(path, "a path begins with /api/, such as \"/api/segments*\"");
        }
        // Trailing and double slashes are ignored in requests, so they are ignored in rules.
        let end = if text.ends_with("/*") { "/*" } else { "" };
        Ok(super::plain(text.strip_suffix(end).unwrap_or(text)) + end)
    }

    fn probability(&self) -> anyhow::Result<f64> {
        match &self.entry.probability {
            None => Ok(1.0),
            Some(value) if (0.0..=1.0).contains(value.get_ref()) => Ok(*value.get_ref()),
            Some(value) => self.wrong(value, "a probability lies between 0 and 1"),
        }
    }

    fn fault(&self) -> anyhow::Result<Fault> {
        Ok(match self.kind.get_ref().as_str() {
            "refuse" => Fault::Refuse,
            "close" => Fault::Close(self.when()?),
            "status" => Fault::Status(self.status()?, self.when()?),
            "rate-limit" => Fault::RateLimit { retry_after: self.retry_after()? },
            "delay" => Fault::Delay(self.delay()?, self.when()?),
            "truncate" => Fault::Truncate,
            "garble" => Fault::Garble,
            "html" => Fault::Html(self.when()?),
            "duplicate" => Fault::Duplicate,
            "reorder" => Fault::Reorder,
            "loop" => Fault::Loop,
            _ => Fault::Lag(self.lag()?),
        })
    }

    fn when(&self) -> anyhow::Result<When> {
        match &self.entry.when {
            None => Ok(When::Before),
            Some(when) => match when.get_ref().as_str() {
                "before" => Ok(When::Before),
                "after" => Ok(When::After),
                _ => self.wrong(when, "a request fails \"before\" or \"after\" it is processed"),
            },
        }
    }

    fn status(&self) -> anyhow::Result<u16> {
        match &self.entry.status {
            Some(status) if (500..600).contains(status.get_ref()) => Ok(*status.get_ref()),
            Some(status) => self.wrong(status, "a status is 500 to 599; a 429 is the fault \"rate-limit\""),
            None => self.wrong(self.kind, "the fault \"status\" needs `status`, such as 503"),
        }
    }

    fn retry_after(&self) -> anyhow::Result<Option<String>> {
        let Some(value) = &self.entry.retry_after else { return Ok(None) };
        let text = match value.get_ref() {
            Value::Integer(seconds) => seconds.to_string(),
            Value::String(text) if HeaderValue::from_str(text).is_ok() => text.clone(),
            _ => return self.wrong(value, "`retry_after` is a number of seconds, or a text for the header"),
        };
        Ok(Some(text))
    }

    fn delay(&self) -> anyhow::Result<Duration> {
        match &self.entry.ms {
            Some(ms) => Ok(Duration::from_millis(*ms.get_ref())),
            None => self.wrong(self.kind, "the fault \"delay\" needs `ms`"),
        }
    }

    fn lag(&self) -> anyhow::Result<Lag> {
        match (&self.entry.writes, &self.entry.ms) {
            (Some(writes), None) => Ok(Lag::Writes(*writes.get_ref())),
            (None, Some(ms)) => Ok(Lag::For(Duration::from_millis(*ms.get_ref()))),
            _ => self.wrong(self.kind, "the fault \"lag\" needs `writes` or `ms`, and not both"),
        }
    }
}
