//! The plan for users and programs: one file per form, all from the same [`PlanView`].

mod block;
pub(super) mod content;
mod counts;
pub(super) mod decisions;
mod doubts;
pub mod drift;
mod facts;
mod folds;
pub mod json;
pub(super) mod loosened;
pub(super) mod markdown;
mod message;
pub(super) mod messages;
mod near;
pub(super) mod past;
pub(super) mod people;
pub mod reach;
mod renamed;
mod requests;
pub(super) mod rows;
pub(super) mod text;
pub(super) mod unmanaged;
pub(super) mod value;
mod when;
pub(super) mod who;
pub(super) mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::address::Address;
use crate::audience::Relation;
use crate::cores;
use crate::digest::Digest;
use crate::guard::{self, Guard, Refused};
use crate::kinds::{self, Delete};
use crate::plan::{Action, Aim, Change, DeclaredAt, Moved, Plan, Reason, Step};
use crate::render::Repetition;
use crate::review::{self, Review};
use crate::text::short;
use near::Near;

pub use block::Block;
pub use json::json;
pub use markdown::{LIMIT as MARKDOWN_LIMIT, MarkdownPage, markdown, page};
pub use text::{before_apply, refusals, text, text_to};

/// The replacement for ids when several targets are compared.
pub(super) const SOME_ID: &str = "<id>";

/// The steps that follow a plan.
#[derive(Clone, Debug, Default)]
pub struct NextSteps {
    /// How to apply it.
    pub again: Repetition,
    /// The file that the plan was saved to.
    pub saved: Option<String>,
    /// The reasons for a refusal.
    pub refused: Vec<Refused>,
    /// The plan is applied after its reviewers have merged it.
    pub on_merge: bool,
}

impl NextSteps {
    /// The refusals that no change states already: changes that wait for a decision say so themselves.
    pub(super) fn refusals(&self) -> Vec<&Refused> {
        let said = |refused: &&Refused| matches!(refused.guard, Guard::Collision | Guard::InDoubt);
        self.refused.iter().filter(|refused| !said(refused)).collect()
    }

    /// The note that the plan would be refused, with the first reason.
    pub(super) fn refusal(&self) -> Option<String> {
        let (first, others) = self.refused.split_first()?;
        let more = match others.len() {
            0 => String::new(),
            1 => " There is 1 more reason.".to_owned(),
            more => format!(" There are {more} more reasons."),
        };
        Some(format!("Apply refuses this plan: {}.{more}", short(&first.message, REFUSAL)))
    }

    /// The command that applies the plan. A saved plan contains its target and its selection.
    pub(super) fn apply(&self) -> String {
        match &self.saved {
            Some(file) => self.again.of_file(file),
            None => self.again.go_on(),
        }
    }
}

/// A plan, in reading order.
#[derive(Debug)]
pub struct PlanView<'p> {
    pub plan: &'p Plan,
    pub again: &'p Repetition,
    pub review: Review<'p>,
    /// Computed on demand, because it takes as long as everything else.
    near: OnceLock<Near>,
    /// The changes, the riskiest first.
    pub blocks: Vec<Block<'p>>,
    /// Changes made only on the service that the plan reverts, with a risk of [`Risk::Audience`] or lower.
    pub drift: Vec<Block<'p>>,
    /// Past pushes.
    pub past: Vec<&'p Change>,
    /// By the segment that gets a new id: the changes that update their reference to it.
    users: BTreeMap<&'p Address, Vec<&'p Change>>,
    /// By the removed resource: the one that may be its new name.
    successors: BTreeMap<&'p Address, &'p Change>,
    steps: HashMap<&'p Address, Vec<&'p Step>>,
    digest: OnceLock<Digest>,
    /// Whether a placeholder replaces the ids that the service chose.
    stands_in: AtomicBool,
}

/// Why a reader should look at a change, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// It causes messages.
    Sends,
    /// It waits for a decision.
    Stuck,
    /// The created resource can be neither changed nor removed.
    NoWayBack,
    Deletes,
    /// It needs a manual step.
    ByHand,
    /// The recipients of a message change.
    Audience,
    /// It is sent at another time.
    Time,
    /// Its text changes.
    Text,
    None,
}

impl Risk {
    fn of(change: &Change, plan: &Plan, review: &Review) -> Self {
        match change.action {
            _ if !change.sends.is_empty() => Self::Sends,
            _ if guard::is_stuck(change) => Self::Stuck,
            Action::Create if kinds::api(&change.address).lifecycle(plan.level).delete == Delete::Never => {
                Self::NoWayBack
            }
            Action::Delete => Self::Deletes,
            Action::ByHand => Self::ByHand,
            Action::Create | Action::Update | Action::Replace => Self::of_content(change, review),
            _ => Self::None,
        }
    }

    /// The risk of the changes for recipients.
    fn of_content(change: &Change, review: &Review) -> Self {
        let runs = |spec: Option<&Value>| spec.and_then(|spec| kinds::api(&change.address).runs(spec));
        let (old, new) = (review::before(change), review::after(change));
        let same = |effect: &Option<Relation>| matches!(effect, Some(Relation::Same));
        match () {
            () if !review.effects(change).iter().all(same) => Self::Audience,
            () if runs(old) != runs(new) => Self::Time,
            () if says(old) != says(new) => Self::Text,
            () => Self::None,
        }
    }
}

/// The number of characters of a refusal that the verdict shows.
const REFUSAL: usize = 160;

/// The fields with texts for recipients.
const SAID: [&str; 3] = ["alert", "title", "body"];

/// The texts of a spec for recipients.
fn says(spec: Option<&Value>) -> Vec<&Value> {
    spec.map(|spec| review::fields::ending_in(spec, &SAID, "default_value")).unwrap_or_default()
}

/// Whether it was changed on the service.
fn is_drift(change: &Change) -> bool {
    matches!(change.moved, Some(Moved::Service | Moved::Removed))
}

impl<'p> PlanView<'p> {
    pub fn of(plan: &'p Plan, again: &'p Repetition) -> Self {
        Self::with(Review::of(plan), again, true)
    }

    /// Returns the view for a form that shows only changes. It does not review a plan that changes nothing.
    pub(crate) fn of_changes(plan: &'p Plan, again: &'p Repetition) -> Self {
        let changes = plan.changes.iter().any(Change::is_told);
        Self::with(if changes { Review::of(plan) } else { Review::unread(plan) }, again, true)
    }

    /// Returns the view of changes made on the service. A resource that was removed there is gone, even if it is declared.
    pub(crate) fn of_drift(plan: &'p Plan, again: &'p Repetition) -> Self {
        Self::with(Review::of(plan), again, false)
    }

    fn with(review: Review<'p>, again: &'p Repetition, is_plan: bool) -> Self {
        let plan = review.plan;
        let mut users: BTreeMap<&Address, Vec<&Change>> = BTreeMap::new();
        let mut successors: BTreeMap<&Address, &Change> = BTreeMap::new();
        for change in &plan.changes {
            for reason in &change.reasons {
                match reason {
                    Reason::Repoint { to, .. } => {
                        to.iter().for_each(|address| users.entry(address).or_default().push(change));
                    }
                    Reason::LooksRenamed { from, .. } if from.kind == change.address.kind => {
                        successors.insert(from, change);
                    }
                    _ => {}
                }
            }
        }
        let mut steps: HashMap<&Address, Vec<&Step>> = HashMap::with_capacity(plan.steps.len());
        for step in &plan.steps {
            steps.entry(&step.address).or_default().push(step);
        }
        let blocks = Block::of_plan(plan, is_plan);
        let mut blocks = cores::each_of(blocks, |mut block| {
            let mut risks: Vec<(Risk, &Change)> =
                block.parts.drain(..).map(|change| (Risk::of(change, plan, &review), change)).collect();
            risks.sort_by_key(|(risk, _)| *risk);
            let others = block.whole.iter().chain(&block.retired).map(|change| Risk::of(change, plan, &review));
            block.risk = others.chain(risks.first().map(|(risk, _)| *risk)).min().unwrap_or(Risk::None);
            block.parts = risks.into_iter().map(|(_, change)| change).collect();
            block
        });
        blocks.sort_by_key(|block| block.risk);
        let (drift, blocks) = blocks.into_iter().partition(|block| {
            // A resource that is only removed from the ledger is not reverted.
            let puts_back = !matches!(block.action, Action::Replace | Action::Forget);
            block.risk >= Risk::Audience && puts_back && block.changes().all(is_drift)
        });
        let past = plan.changes.iter().filter(|change| change.action == Action::Past).collect();
        let stands_in = AtomicBool::new(false);
        Self {
            plan,
            again,
            review,
            near: OnceLock::new(),
            blocks,
            drift,
            past,
            users,
            successors,
            steps,
            digest: OnceLock::new(),
            stands_in,
        }
    }

    /// Messages that one person would get shortly after each other, including unchanged ones.
    pub fn collisions(&self) -> &Near {
        self.near.get_or_init(|| Near::new(self.review.collisions()))
    }

    /// Computes the collisions and the digest in parallel, for forms that show the whole plan.
    pub fn ask_ahead(&self) {
        let near = || Near::new(self.review.collisions());
        let (near, digest) = cores::both(self.plan.changes.len(), near, || self.plan.digest());
        let _ = (self.near.set(near), self.digest.set(digest));
    }

    /// Calls `show` with a placeholder for all ids that the service chose, so that targets which differ only in those
    /// ids show the same.
    pub fn without_ids<T>(&self, show: impl FnOnce(&Self) -> T) -> T {
        self.stands_in.store(true, Ordering::Relaxed);
        let shown = show(self);
        self.stands_in.store(false, Ordering::Relaxed);
        shown
    }

    /// Whether a changed resource of the service has an id.
    pub(crate) fn has_ids(&self) -> bool {
        self.plan.changes.iter().any(|change| change.id.is_some() && change.is_told())
    }

    /// An id that the service chose, or its placeholder.
    pub fn id<'i>(&self, id: &'i str) -> &'i str {
        if self.stands_in.load(Ordering::Relaxed) { SOME_ID } else { id }
    }

    /// The path of a request, with placeholders if they are on.
    pub fn path<'s>(&self, step: &Step, path: &'s str) -> Cow<'s, str> {
        let is_ours = |id: &str| {
            step.spec.as_ref().and_then(|spec| kinds::api(&step.address).own_id(spec)).is_some_and(|own| own == id)
        };
        match step.id.as_deref().filter(|id| self.stands_in.load(Ordering::Relaxed) && !is_ours(id)) {
            Some(id) => {
                let parts = path.split('/').map(|part| if part == id { SOME_ID } else { part });
                Cow::Owned(parts.collect::<Vec<_>>().join("/"))
            }
            None => Cow::Borrowed(path),
        }
    }

    /// Where a block's resource is declared.
    pub fn place_of(&self, block: &Block<'p>) -> Option<&'p DeclaredAt> {
        let whole = || self.plan.told.of.get(&block.address).and_then(|aside| aside.place.as_ref());
        block.changes().find_map(|change| change.place.as_ref()).or_else(whole)
    }

    /// The digest of the whole plan, computed once.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| self.plan.digest())
    }

    /// The steps that carry out a change.
    pub(crate) fn steps_of(&self, change: &Change) -> &[&'p Step] {
        self.steps.get(&change.address).map(Vec::as_slice).unwrap_or_default()
    }

    /// The changes that update their reference to a segment's new id.
    pub(crate) fn users_of(&self, address: &Address) -> &[&'p Change] {
        self.users.get(address).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the manifests determine the desired state.
    pub(crate) fn is_by_files(&self) -> bool {
        matches!(self.plan.aim, Aim::Manifests | Aim::Promoted(_))
    }

    /// The resource that may be the new name of a removed one.
    pub fn successor(&self, old: &Address) -> Option<&'p Change> {
        self.successors.get(old).copied()
    }
}
