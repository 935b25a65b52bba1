//! Facts of a review about a change, for the JSON forms.

use schemars::JsonSchema;
use serde::Serialize;

use super::{PlanView, who};
use crate::audience::Relation;
use crate::kinds::{Resource, Segment};
use crate::look::Appearance;
use crate::nouns::schedule::When;
use crate::plan::{self, Basis};
use crate::review::{Mark, Who};
use crate::timing::{self, Times, words};

/// A time at which people get a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Time {
    /// The name of one of several messages: variant 2.
    pub label: Option<String>,
    /// The moment, or the recipients' local time.
    pub at: String,
    /// Whether it is in recipients' local time.
    pub by_own_clock: bool,
    /// The old value, if it differs.
    pub was: Option<String>,
    /// Whether it is added to existing ones.
    pub is_new: bool,
    /// The time zone in the manifest.
    pub zone: String,
    /// The time in words, with the old time and the time until then.
    pub words: String,
    /// Whether it is in quiet hours in the manifest's time zone, if recipients can be there.
    pub quiet: bool,
    /// The other local times of its recipients.
    pub there: Vec<There>,
    /// Whether recipients can be in any time zone: then these are large cities.
    pub anywhere: bool,
}

/// A local time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct There {
    pub city: String,
    pub zone: String,
    /// The local time.
    pub at: String,
    /// Whether it is in quiet hours.
    pub quiet: bool,
}

/// Audience.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Audience {
    /// All of this, in one sentence.
    pub words: String,
    /// The conditions of the segment, if the audience is one segment.
    pub meaning: Option<String>,
    /// The conditions, each compound above its members.
    pub tree: Vec<Condition>,
    /// How it changes. Null if there is nothing to compare.
    pub effect: Option<Effect>,
    /// Whether it is unchanged and only one of its segments changes.
    pub through_a_segment: bool,
    /// The last applied state, if both sides differ from it.
    pub last_applied: Option<String>,
}

/// A line of a tree of conditions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Condition {
    /// Its depth, from 0.
    pub depth: usize,
    pub text: String,
    /// same, comes or goes.
    pub mark: &'static str,
}

/// How an audience changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Effect {
    /// same, broader, narrower, disjoint, different or too_complex.
    pub relation: &'static str,
    /// A device that joins.
    pub joins: Option<String>,
    /// A device that leaves.
    pub leaves: Option<String>,
    pub words: String,
}

/// A message as recipients will see it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownMessage {
    /// Its number among several, or the name of the sample with its values.
    pub label: Option<String>,
    pub title: Option<String>,
    /// The text, with its variables filled in.
    pub text: String,
    pub characters: usize,
    /// The visible part on each screen.
    pub fits: Vec<Fit>,
    pub buttons: Vec<String>,
    /// The effects of its buttons, one sentence each.
    pub presses: Vec<String>,
    /// The effect of a tap. Null if a tap only opens the app.
    pub tap: Option<String>,
    /// What a tap does on device types with their own actions.
    pub platform_taps: Vec<String>,
    pub right_to_left: bool,
    /// The Message Center message that is sent with it.
    pub message: Option<Center>,
    /// Placeholders without a value.
    pub unfilled: Vec<String>,
}

/// A Message Center message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Center {
    pub title: String,
    pub text: String,
}

/// The part of a text that a screen shows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fit {
    pub screen: String,
    pub shown: String,
    /// Whether the whole text is visible.
    pub whole: bool,
    pub characters: usize,
    /// The title, the subtitle and the summary that this screen shows.
    pub heads: Vec<HeadLine>,
    /// The images and the further texts of the expanded notification.
    pub expanded: Vec<String>,
}

/// A line that a screen shows next to the text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeadLine {
    /// title, subtitle or summary.
    pub name: &'static str,
    pub shown: String,
    /// Whether that is all of it.
    pub whole: bool,
}

/// A resource that uses a segment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct User {
    pub address: String,
    /// The effect of the change on it.
    pub words: String,
}

/// Two messages that one person would get shortly after each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Collision {
    pub one: String,
    pub other: String,
    pub apart_seconds: i64,
    /// A device that gets both. Null if the audiences are too complex to compare.
    pub who: Option<String>,
    /// Told of the first.
    pub words: String,
}

/// The number of resources of a kind that are not in git.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotInGit {
    /// Such as segments.
    pub kind: String,
    pub count: usize,
    /// Whether the service may have more of them than it lists.
    pub or_more: bool,
}

/// A kind that could not be listed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unlisted {
    pub kind: String,
    /// The reason.
    pub why: String,
}

impl NotInGit {
    pub fn all(plan: &plan::Plan) -> Vec<Self> {
        let one = |(kind, counted): (&String, &plan::Unmanaged)| Self {
            kind: kind.clone(),
            count: counted.number,
            or_more: counted.or_more,
        };
        plan.told.unmanaged.iter().map(one).collect()
    }
}

/// The state that a plan was compared with, if it was not the service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedWith {
    pub what: ComparedKind,
    /// The comparison in words, and what it leaves out.
    pub words: String,
    /// The id of the commit. Null for the ledger.
    pub commit: Option<String>,
    /// The name of the commit, as given to the command.
    pub name: Option<String>,
    /// The id of the commit of the manifests. Null if they are the files of the work tree.
    pub manifests: Option<String>,
    /// The last record of the ledger. Null for a commit.
    pub record: Option<u64>,
}

/// The relation of a plan's files to the last apply, if they do not contain it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Older {
    /// uncommitted (the same commit, which was applied with changes that are not in it), behind, diverged, missing (this clone does not
    /// have the commit), unknown or outside (no git repository).
    pub relation: &'static str,
    /// All of this, in one sentence.
    pub words: String,
    /// The last applied commit.
    pub applied: String,
    /// The commit that is checked out. Null if it is unknown.
    pub here: Option<String>,
}

impl Older {
    pub fn new(plan: &plan::Plan) -> Option<Self> {
        let descent = plan.told.descent.as_ref()?;
        Some(Self {
            relation: descent.ancestry.word(),
            words: descent.words()?,
            applied: descent.applied.commit.clone(),
            here: descent.here.as_ref().map(|here| here.commit.clone()),
        })
    }
}

/// The gap of a ledger that was restored from a backup: the changes in it are unknown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenGap {
    /// The time of the last record before it. Null if there is none.
    pub since: Option<String>,
    /// When someone accepted it.
    pub accepted: String,
    /// All of this, in one sentence.
    pub words: String,
}

impl OpenGap {
    pub fn new(plan: &plan::Plan) -> Option<Self> {
        let gap = plan.told.open_gap.as_ref()?;
        let since = gap.since.map(|since| since.to_string());
        Some(Self { since, accepted: gap.at.to_string(), words: gap.words()? })
    }
}

/// The type of state that a plan was compared with.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparedKind {
    Ledger,
    Commit,
}

impl ComparedWith {
    pub fn new(plan: &plan::Plan) -> Option<Self> {
        let words = plan.compared_with()?;
        let none = Self { what: ComparedKind::Ledger, words, commit: None, name: None, manifests: None, record: None };
        match &plan.basis {
            Basis::Service => None,
            Basis::Ledger => Some(Self { record: Some(plan.ledger.seq), ..none }),
            Basis::Commit { commit, manifests, .. } => Some(Self {
                what: ComparedKind::Commit,
                commit: Some(commit.id.clone()),
                name: Some(commit.name.clone()),
                manifests: manifests.as_ref().map(|own| own.id.clone()),
                ..none
            }),
        }
    }
}

/// The managed resources if the files declare nothing: a plan deletes none of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NothingDeclared {
    /// The number of managed resources that stay on the service. `pushplan destroy` deletes them.
    pub stays: usize,
    /// The kinds that `prune` of the target names, and of which nothing is deleted then.
    pub not_pruned: Vec<String>,
}

impl NothingDeclared {
    pub fn new(told: &plan::NothingDeclared) -> Self {
        let plan::NothingDeclared { stays, not_pruned } = told;
        Self { stays: *stays, not_pruned: not_pruned.clone() }
    }
}

impl Unlisted {
    pub fn all(plan: &plan::Plan) -> Vec<Self> {
        plan.told.unlisted.iter().map(|(kind, why)| Self { kind: kind.clone(), why: why.clone() }).collect()
    }
}

impl Time {
    /// The new times of a change, or its old ones if the change deletes it; and the removed times, if others remain.
    pub fn all(view: &PlanView, change: &plan::Change) -> (Vec<Self>, Vec<Self>) {
        let both = view.review.both_times(change);
        let stay = !both.old.is_empty() && !both.new.is_empty();
        let one = |was: Option<&Times>, times: &Times| Self {
            label: times.label(),
            at: written(times.when),
            by_own_clock: matches!(times.when, When::EachZone(_)),
            was: was.filter(|was| was.when != times.when).map(|was| written(was.when)),
            is_new: stay && was.is_none(),
            zone: words::zone(&times.zone).to_owned(),
            words: match was.filter(|was| was.when != times.when) {
                Some(was) => words::changed(was, times, view.plan.made),
                None => words::when(times, view.plan.made),
            },
            quiet: times.quiet,
            there: times.there.iter().map(There::new).collect(),
            anywhere: times.anywhere,
        };
        let (mut shown, mut gone) = (Vec::new(), Vec::new());
        for (was, is) in both.each() {
            match (was, is) {
                (was, Some(is)) => shown.push(one(was, is)),
                (Some(was), None) if stay => gone.push(one(Some(was), was)),
                (Some(was), None) => shown.push(one(Some(was), was)),
                (None, None) => {}
            }
        }
        (shown, gone)
    }
}

pub fn written(when: When) -> String {
    match when {
        When::At(instant) => instant.to_string(),
        When::EachZone(time) => time.to_string(),
    }
}

impl There {
    fn new(there: &timing::There) -> Self {
        Self { city: there.city(), zone: there.zone.to_string(), at: there.at.to_string(), quiet: there.quiet }
    }
}

impl Audience {
    pub fn new(who: &Who) -> Self {
        let Who { words, meaning, tree, through, last_applied, effect } = who.clone();
        let condition = |marked: crate::review::Marked| Condition {
            depth: marked.line.depth,
            text: marked.line.text,
            mark: match marked.mark {
                Mark::Same => "same",
                Mark::Comes => "comes",
                Mark::Goes => "goes",
            },
        };
        let tree = tree.into_iter().map(condition).collect();
        Self {
            words,
            meaning,
            tree,
            effect: effect.as_ref().map(Effect::new),
            through_a_segment: through,
            last_applied,
        }
    }
}

impl Effect {
    fn new(effect: &Relation) -> Self {
        let words = |device: Option<&crate::audience::ExampleDevice>| device.map(ToString::to_string);
        Self {
            relation: effect.word(),
            joins: words(effect.joins()),
            leaves: words(effect.leaves()),
            words: effect.to_string(),
        }
    }
}

impl ShownMessage {
    pub fn new(seen: Appearance) -> Self {
        let Appearance { label, title, text, characters, fits, buttons, presses, .. } = seen;
        let Appearance { tap, platform_taps, rtl, message, unfilled, .. } = seen;
        let head = |crate::look::HeadLine { name, shown, whole, .. }| HeadLine { name, shown, whole };
        let fit = |fit: crate::look::Fit| Fit {
            screen: fit.screen.clone().into_owned(),
            shown: fit.shown,
            whole: fit.whole,
            characters: fit.characters,
            heads: fit.heads.into_iter().map(head).collect(),
            expanded: fit.expanded,
        };
        Self {
            label,
            title,
            text,
            characters,
            fits: fits.into_iter().map(fit).collect(),
            buttons,
            presses,
            tap,
            platform_taps,
            right_to_left: rtl,
            message: message.map(|center| Center { title: center.title, text: center.text }),
            unfilled,
        }
    }
}

impl User {
    pub fn all(view: &PlanView, change: &plan::Change) -> Vec<Self> {
        if *change.address.kind != *Segment::KEY {
            return Vec::new();
        }
        let holders = who::Holders::of(change);
        let one = |user: &&plan::Change| Self {
            address: user.address.to_string(),
            words: who::touched(view, user, &holders),
        };
        view.review.users(&change.address.key).iter().map(one).collect()
    }
}

impl Collision {
    pub fn new(collision: &timing::Collision) -> Self {
        let timing::Collision { one, other, apart_seconds, who, .. } = collision;
        Self {
            one: one.to_string(),
            other: other.to_string(),
            apart_seconds: *apart_seconds,
            who: who.clone(),
            words: words::collision(collision, true),
        }
    }
}
