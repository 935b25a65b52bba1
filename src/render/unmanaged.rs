//! Unmanaged resources of the service.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Repetition;
use super::layout::{self, Paint, Style, Words};
use crate::kinds::{KINDS, Kind};
use crate::nouns::level::Level;
use crate::text::{all_of, count, many, pattern_of, quoted, quoted_short};
use crate::timing::words::{distance, moment};

/// The number of characters of a name that are shown.
const NAME: usize = 60;
/// The number of users of a resource that are named.
const NAMED: usize = 3;

/// The listed resources, and the kinds that could not be listed.
#[derive(Debug)]
pub struct Listing<'l> {
    pub target: &'l str,
    pub level: Level,
    pub now: Timestamp,
    pub again: Repetition,
    pub things: Vec<ShownThing>,
    /// The number of resources that `ignore_unmanaged` leaves out.
    pub ignored: usize,
    /// Patterns of `ignore_unmanaged` that match nothing.
    pub idle: Vec<Pattern>,
    /// The kinds of which the service may have more than it lists.
    pub partly: Vec<&'static str>,
    /// The kinds whose lists failed, and why.
    pub unlisted: Vec<(&'static Kind, String)>,
    /// The kinds that have no list.
    pub unlistable: Vec<&'static Kind>,
}

/// A pattern, and its line in the project file.
#[derive(Debug)]
pub struct Pattern {
    pub pattern: String,
    pub line: Option<usize>,
}

/// One unmanaged resource.
#[derive(Debug)]
pub struct ShownThing {
    pub kind: &'static Kind,
    pub address: String,
    pub name: String,
    pub id: String,
    pub made: Option<Timestamp>,
    pub last_used: Option<Timestamp>,
    pub used_by: Vec<String>,
    /// It sent messages, and its time has passed.
    pub over: bool,
    pub pruned: bool,
}

/// The list as text.
pub fn text(listing: &Listing, style: Style) -> String {
    let mut out = String::new();
    for kind in KINDS {
        let things: Vec<&ShownThing> = listing.things.iter().filter(|thing| thing.kind.key == kind.key).collect();
        if things.is_empty() {
            continue;
        }
        let or_more = if listing.partly.contains(&kind.key) { " or more" } else { "" };
        let heading = format!("{}{or_more}", count(things.len(), kind.noun));
        layout::paragraph(&mut out, &Words::default().paint(&heading, Paint::Strong), 0, style);
        for thing in things {
            one(&mut out, listing, thing, style);
        }
        out.push('\n');
    }
    let mut say = |words: &Words| layout::paragraph(&mut out, words, 0, style);
    summary(listing).iter().for_each(&mut say);
    out
}

fn one(out: &mut String, listing: &Listing, thing: &ShownThing, style: Style) {
    let mut left = Words::new("  ").paint(&thing.address, Paint::Strong).beneath(4);
    // The address of a tag contains its name.
    if thing.address.split_once('/').is_none_or(|(_, key)| key != thing.name) {
        left = left.and("  ").and(&quoted_short(&thing.name, NAME));
    }
    let id = if thing.id == thing.name { "" } else { thing.id.as_str() };
    layout::head(out, &left, &Words::default().paint(id, Paint::Faint), style);
    let mut told = Vec::new();
    told.extend(thing.made.map(|at| format!("made {}", moment(at))));
    told.extend(thing.last_used.map(|at| format!("last used {} ({})", distance(listing.now, at), moment(at))));
    let mut by: Vec<String> = thing.used_by.iter().take(NAMED).cloned().collect();
    if thing.used_by.len() > NAMED {
        by.push(format!("{} more", thing.used_by.len() - NAMED));
    }
    told.extend((!by.is_empty()).then(|| format!("used by {}", all_of(&by))));
    told.extend(thing.over.then(|| "its time has passed, so there is nothing to pull".to_owned()));
    if !told.is_empty() {
        layout::paragraph(out, &Words::new(&told.join("; ")), 4, style);
    }
}

/// The counts, the next steps, and the unknown kinds.
fn summary(listing: &Listing) -> Vec<Words> {
    let mut lines = Vec::new();
    let (number, ignored) = (listing.things.len(), listing.ignored);
    let ignored_words = match (number, ignored) {
        (_, 0) => String::new(),
        (0, 1) => " 1 resource is ignored by ignore_unmanaged.".to_owned(),
        (0, ignored) => format!(" {ignored} resources are ignored by ignore_unmanaged."),
        (_, 1) => " 1 more is ignored by ignore_unmanaged.".to_owned(),
        (_, ignored) => format!(" {ignored} more are ignored by ignore_unmanaged."),
    };
    let are = if number == 1 { "is" } else { "are" };
    lines.push(Words::new(&match number {
        0 => format!("All resources that pushplan can list on {} are in git.{ignored_words}", listing.target),
        _ => format!("{} on {} {are} not in git.{ignored_words}", count(number, "resource"), listing.target),
    }));
    if let Some(first) = listing.things.iter().find(|thing| !thing.over) {
        let pull = listing.again.other(&format!("pull {}", first.address));
        lines.push(Words::new("To add one to git: ").copy(&pull));
    }
    if let Some(first) = listing.things.iter().find(|thing| !thing.over).or(listing.things.first()) {
        let meant = format!("{}/{}", first.kind.key, pattern_of(&first.name));
        let pattern = format!("ignore_unmanaged = [{}]", quoted(&meant));
        let known = Words::new("To ignore it, in pushplan.toml under [project] or a target: ");
        lines.push(known.copy(&pattern));
    }
    let pruned = listing.things.iter().filter(|thing| thing.pruned).count();
    if pruned > 0 {
        let are = if pruned == 1 { "is of a kind" } else { "are of kinds" };
        let words = format!("{pruned} of them {are} deleted by `prune`: ");
        lines.push(Words::new(&words).copy(&listing.again.plan()).and(" shows which."));
    }
    for (kind, why) in &listing.unlisted {
        lines.push(Words::new(&format!("The {} on the service are unknown: {why}.", many(kind.noun))));
    }
    let (people, hidden): (Vec<&Kind>, Vec<&Kind>) =
        listing.unlistable.iter().partition(|kind| kind.api.list(Level::Extended).is_empty());
    let nouns = |kinds: &[&Kind]| all_of(&kinds.iter().map(|kind| many(kind.noun)).collect::<Vec<_>>());
    if !hidden.is_empty() {
        let words = format!("Not listed: {}; the documented API cannot list them.", nouns(&hidden));
        lines.push(Words::new(&words));
    }
    if !people.is_empty() {
        lines.push(Words::new(&format!(
            "Not listed: {}; they are data of single people.",
            all_of(&people.iter().map(|kind| singles(kind)).collect::<Vec<_>>())
        )));
    }
    for Pattern { pattern, line } in &listing.idle {
        let at = line.map(|line| format!(" (pushplan.toml:{line})")).unwrap_or_default();
        let words = format!("{}{at} of ignore_unmanaged matches nothing.", quoted(pattern));
        lines.push(Words::after("note: ", Paint::Strong).and(&words));
    }
    lines
}

/// The output of `pushplan unmanaged --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnmanagedDocument {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    format_version: u32,
    target: String,
    /// The API level of the service: documented or extended.
    api: String,
    /// The number of resources that are not in git, by the key of their kind.
    counts: BTreeMap<String, usize>,
    /// The resources that are not in git, by kind and address.
    things: Vec<UnmanagedThing>,
    /// The number of further resources that `ignore_unmanaged` hides.
    ignored: usize,
    /// Patterns of `ignore_unmanaged` that match nothing.
    idle_patterns: Vec<IdlePattern>,
    /// Kinds of which the service may have more resources than it lists.
    partly_listed: Vec<String>,
    /// Kinds that could not be listed.
    unlisted: Vec<Unlisted>,
}

/// A resource that is not in git.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnmanagedThing {
    /// Its address, for `pushplan pull`.
    address: String,
    /// Such as segments.
    kind: String,
    /// Its name in the dashboard.
    name: String,
    id: String,
    /// When it was created. Null if the service does not report it.
    made: Option<String>,
    /// When it was last used. Null if the service does not report it.
    last_used: Option<String>,
    /// The known resources that refer to it: addresses, and descriptions of unmanaged ones.
    used_by: Vec<String>,
    /// Whether it is a push whose time has passed: `pushplan pull` skips it.
    over: bool,
    /// Whether the target prunes unmanaged resources of its kind.
    pruned_kind: bool,
}

/// A pattern that matches nothing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IdlePattern {
    pattern: String,
    /// The line of pushplan.toml, from 1.
    line: Option<usize>,
}

/// A kind that could not be looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unlisted {
    kind: String,
    /// Why, in words.
    why: String,
}

/// The list as JSON.
pub fn json(listing: &Listing) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    listing.things.iter().for_each(|thing| *counts.entry(thing.kind.key.to_owned()).or_default() += 1);
    let failed = listing.unlisted.iter().map(|(kind, why)| Unlisted { kind: kind.key.to_owned(), why: why.clone() });
    let silent = listing.unlistable.iter().map(|kind| Unlisted {
        kind: kind.key.to_owned(),
        why: match kind.api.list(Level::Extended).is_empty() {
            true => "data of single people".to_owned(),
            false => "the documented API cannot list them".to_owned(),
        },
    });
    let idle = |Pattern { pattern, line }: &Pattern| IdlePattern { pattern: pattern.clone(), line: *line };
    let document = UnmanagedDocument {
        format_version: 1,
        target: listing.target.to_owned(),
        api: match listing.level {
            Level::Documented => "documented".to_owned(),
            Level::Extended => "extended".to_owned(),
        },
        counts,
        things: listing.things.iter().map(UnmanagedThing::new).collect(),
        ignored: listing.ignored,
        idle_patterns: listing.idle.iter().map(idle).collect(),
        partly_listed: listing.partly.iter().map(|key| (*key).to_owned()).collect(),
        unlisted: failed.chain(silent).collect(),
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

impl UnmanagedThing {
    fn new(shown: &ShownThing) -> Self {
        let ShownThing { kind, address, name, id, made, last_used, used_by, over, pruned } = shown;
        Self {
            address: address.clone(),
            kind: kind.key.to_owned(),
            name: name.clone(),
            id: id.clone(),
            made: made.map(|at| at.to_string()),
            last_used: last_used.map(|at| at.to_string()),
            used_by: used_by.clone(),
            over: *over,
            pruned_kind: *pruned,
        }
    }
}

/// The noun for resources of which each person has one.
fn singles(kind: &Kind) -> String {
    kind.api.singles().map_or_else(|| many(kind.noun), str::to_owned)
}
