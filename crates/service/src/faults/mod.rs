//! Faults for rehearsals: requests that fail on purpose, in the same way every time.
//!
//! The rules are in a file (see [`read`]). Each request is compared with them in order, and the first rule that strikes
//! decides the fault; a rule counts the requests that reach it. Chance depends on the seed, the rule and that count, so
//! the same requests in the same order fail in the same way. Only requests to `/api` are affected.

mod around;
mod history;
mod line;
mod pages;
mod rules;

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;

pub use around::around;
pub use history::History;
pub use line::{Body, Broken, FaultyStream, Reset};
pub use rules::read;

use pages::Pages;

/// The content of a file of faults.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub seed: u64,
    pub rules: Vec<Rule>,
}

/// A rule: which requests fail, and how.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Any method if it is omitted.
    pub method: Option<String>,
    /// A path in which `*` matches anything.
    pub path: String,
    pub probability: f64,
    /// The maximum number of times that it strikes.
    pub times: Option<u64>,
    /// The number of requests that pass first.
    pub after: u64,
    pub fault: Fault,
}

/// The type of a failure.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The connection is reset at once.
    Refuse,
    /// The connection is closed without an answer.
    Close(When),
    Status(u16, When),
    /// A 429.
    RateLimit {
        retry_after: Option<String>,
    },
    Delay(Duration, When),
    /// The answer is incomplete.
    Truncate,
    /// The answer's bytes are damaged.
    Garble,
    /// A page for people, with 200.
    Html(When),
    /// A page of a listing begins with the last item of the page before.
    Duplicate,
    /// A page of a listing is in the opposite order.
    Reorder,
    /// The next page of a listing is the same page.
    Loop,
    /// Recent writes are not visible yet.
    Lag(Lag),
}

/// Whether the request is carried out before it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Before,
    After,
}

/// How far a list lags behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    Writes(usize),
    For(Duration),
}

impl Fault {
    /// Returns the kind, as written in a file of faults.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Close(_) => "close",
            Self::Status(..) => "status",
            Self::RateLimit { .. } => "rate-limit",
            Self::Delay(..) => "delay",
            Self::Truncate => "truncate",
            Self::Garble => "garble",
            Self::Html(_) => "html",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Loop => "loop",
            Self::Lag(_) => "lag",
        }
    }
}

impl Rules {
    /// Checks that a service with faults listens only on this machine.
    pub fn may_listen(&self, address: IpAddr) -> anyhow::Result<()> {
        if address.is_loopback() { Ok(()) } else { Err(anyhow!("faults are for loopback alone, and {address} is not")) }
    }

    /// Returns every lag of the rules.
    pub fn lags(&self) -> Vec<Lag> {
        let lag = |rule: &Rule| match rule.fault {
            Fault::Lag(lag) => Some(lag),
            _ => None,
        };
        self.rules.iter().filter_map(lag).collect()
    }
}

/// The rules, with their counts.
#[derive(Debug)]
pub struct Faults {
    rules: Rules,
    counts: Mutex<Vec<Count>>,
    /// The pages of lists that were returned, if a rule repeats their items.
    pages: Option<Mutex<Pages>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    met: u64,
    struck: u64,
}

/// A rule that strikes a request.
#[derive(Debug)]
pub struct Strike<'f> {
    pub fault: &'f Fault,
    /// Random numbers for the fault itself.
    pub dice: Dice,
}

impl Faults {
    pub fn new(rules: Rules) -> Self {
        let counts = Mutex::new(vec![Count::default(); rules.rules.len()]);
        let repeats = rules.rules.iter().any(|rule| rule.fault == Fault::Duplicate);
        Self { rules, counts, pages: repeats.then(Mutex::default) }
    }

    /// Returns the fault of the next request, if any.
    pub fn strike(&self, method: &str, path: &str) -> Option<Strike<'_>> {
        let path = plain(path);
        if !is_api(&path) {
            return None;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, rule) in self.rules.rules.iter().enumerate() {
            let fits = rule.method.as_ref().is_none_or(|wanted| wanted == method) && matches(&rule.path, &path);
            if !fits {
                continue;
            }
            let count = &mut counts[index];
            count.met += 1;
            let mut dice = Dice::new(&[self.rules.seed, index as u64, count.met]);
            let spent = rule.times.is_some_and(|times| count.struck >= times);
            if count.met > rule.after && !spent && dice.chance(rule.probability) {
                count.struck += 1;
                return Some(Strike { fault: &rule.fault, dice });
            }
        }
        None
    }
}

fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Returns a path without empty parts, as the routes see it.
fn plain(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty()).fold(String::new(), |path, part| path + "/" + part)
}

/// Whether a text matches a pattern, in which `*` matches any text, including an empty one.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

/// A pseudorandom number generator (SplitMix64), which returns the same numbers for the same seeds.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    fn new(seeds: &[u64]) -> Self {
        let mut dice = Self(0);
        for seed in seeds {
            dice.0 = dice.0.wrapping_add(*seed);
            dice.0 = dice.roll();
        }
        dice
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns `true` with a probability.
    fn chance(&mut self, probability: f64) -> bool {
        // The upper 53 bits are a fraction that a float holds exactly.
        ((self.roll() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("/api/segments", "/api/segments", true),
            ("/api/segments", "/api/segments/1", false),
            ("/api/segments*", "/api/segments/1", true),
            ("/api/segments/*", "/api/segments", false),
            ("/api/*/push", "/api/templates/push", true),
            ("/api/*/push", "/api/push", false),
            ("/api/*a*a", "/api/a", false),
            ("/api/*a*a", "/api/aa", true),
            ("*", "/api/anything", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_probability_strikes_about_that_often() {
        let rule =
            Rule { method: None, path: "*".into(), probability: 0.3, times: None, after: 0, fault: Fault::Refuse };
        let faults = Faults::new(Rules { seed: 11, rules: vec![rule] });
        let struck = (0..10_000).filter(|_| faults.strike("GET", "/api/segments").is_some()).count();
        assert!((2_850..3_150).contains(&struck), "{struck}");
    }
}
