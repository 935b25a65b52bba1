//! The plan as one JSON object, described by a schema. It has every fact of the text form.

mod messages;
mod people;
pub mod reach;
mod renamed;
mod verbs;
mod whole;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::facts::{
    Audience, Collision, ComparedWith, NotInGit, NothingDeclared, Older, OpenGap, ShownMessage, Time, Unlisted, User,
};
use super::{NextSteps, PlanView, requests, words};
use crate::kinds;
use crate::nouns::split::Split;
use crate::plan::{self, Action, DeclarationWarning, Plan};
use crate::render::layout::{Row, Words};
use crate::review::fields::Difference;
use crate::review::{self, before};

pub use messages::{LoosenedGuard, PlanMessage, TightenedQuietHours};
use people::PlanPeople;
pub use renamed::Renamed;
pub use verbs::{MovedSide, Risk, Verb};
use whole::promoted_from;
use whole::word;
pub use whole::{ActionCounts, NotPromotedJson, PlanStep, Refusal};

/// The output of `pushplan plan --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanDocument<'p> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    /// The plan's digest. Two plans of the same changes have the same one.
    pub digest: String,
    /// The first characters of the digest, as people see it.
    pub short_digest: String,
    /// Set if the files do not contain what was applied last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older: Option<Older>,
    /// Set if the ledger was restored from a backup, until someone has checked what it does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_gap: Option<OpenGap>,
    /// Set if the plan was not compared with the service. Such a plan cannot be applied. Missing otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<ComparedWith>,
    /// The version of pushplan that created the plan.
    pub tool: String,
    pub target: String,
    /// Scheme, host and port of the service.
    pub origin: String,
    /// The API level of the service: documented or extended.
    pub api: String,
    /// When the plan was created.
    pub made: String,
    /// When the plan expires.
    pub expires: String,
    /// Whether the service, or what it was compared with, and the manifests agree. A plan that left out changes is not in sync.
    pub in_sync: bool,
    pub counts: ActionCounts,
    /// The effect on recipients, one sentence each, the most urgent first. An experiment counts as one message, because a device gets one of its
    /// variants; `messages` has an entry for each variant.
    pub verdict: Vec<String>,
    /// The messages that change for recipients, the most urgent first.
    pub messages: Vec<PlanMessage>,
    /// The result of `--people`. Missing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<PlanPeople>,
    /// The safety settings that are looser than at the last apply.
    pub loosened: Vec<LoosenedGuard>,
    /// Quiet hours that are longer than at the last apply. Null unless a message is in them for this reason.
    pub tightened_quiet_hours: Option<TightenedQuietHours>,
    /// The changes, sorted by address. Unchanged resources are counted, but not listed.
    pub changes: Vec<PlanChange<'p>>,
    /// The steps that carry out the changes. A step comes after all steps that it waits for.
    pub steps: Vec<PlanStep>,
    /// Addresses that `--only` and `--except` left out, and those that another run is applying.
    pub left_out: Vec<String>,
    /// The run that holds the lock, in a sentence. Missing if no run does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_work: Option<&'p str>,
    /// The target whose applied state this target gets. Missing if the plan is no promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted_from: Option<&'p str>,
    /// Resources that are not promoted. Missing if the plan is no promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Vec<NotPromotedJson>>,
    /// Pairs of messages that one person would get shortly after each other.
    pub collisions: Vec<Collision>,
    /// The number of pairs of messages that were not compared, because there are too many.
    pub uncompared: usize,
    /// The time of the last apply.
    pub last_apply: Option<String>,
    /// The number of resources on the service that are neither in git nor in this plan, by kind. `pushplan unmanaged` lists them. Null if the
    /// service was not read.
    pub unmanaged: Option<Vec<NotInGit>>,
    /// Kinds that the project does not use and whose lists could not be read, so their unmanaged resources are unknown.
    pub unlisted: Vec<Unlisted>,
    /// Set if the files declare nothing, which deletes nothing.
    pub nothing_declared: Option<NothingDeclared>,
    /// The reasons for which `pushplan apply` would refuse the plan.
    pub refused: Vec<Refusal>,
}

/// A change to a resource, or to a part of it that is applied separately.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanChange<'p> {
    /// Such as segments/lapsed-buyers.
    pub address: String,
    /// The resource that it is a part of; its own address if it is a whole resource.
    pub resource: String,
    pub action: Verb,
    /// Its name on the service.
    pub name: String,
    /// The file in which it is declared. Null if it is not declared.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The id on the service.
    pub id: Option<String>,
    /// Why a reader should look at it.
    pub risk: Risk,
    /// Where it was changed since the last apply.
    pub moved: Option<MovedSide>,
    /// The differences between the live and the desired state.
    pub fields: Vec<Field<'p>>,
    /// Number of equal fields.
    pub unchanged_fields: usize,
    /// Variables of a template that get another key. Missing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_variables: Option<Vec<Renamed>>,
    /// The desired state, from the manifests.
    pub desired: Option<&'p Value>,
    /// The live state, or the state of whatever the plan was compared with.
    pub live: Option<&'p Value>,
    /// The last applied state.
    pub last_applied: Option<&'p Value>,
    /// The first and the last time at which it sends messages by itself. Null if it does not.
    pub runs: Option<Runs>,
    /// Each time at which it sends messages, and in which time zone.
    pub times: Vec<Time>,
    /// Send times that were removed, if others remain.
    pub times_gone: Vec<Time>,
    /// The event that triggers its messages, in words. Null if there is none.
    pub set_off_by: Option<String>,
    /// Its audience, and how the audience changes.
    pub audiences: Vec<Audience>,
    /// The division of the audience among variants. Null if all parts are equal, before and after.
    pub split: Option<ChangedSplit>,
    /// The message that recipients will read.
    pub messages: Vec<ShownMessage>,
    /// For a segment: the resources that use it, with the effect of the change on them.
    pub used_by: Vec<User>,
    /// When the service last used it.
    pub last_used: Option<String>,
    /// The state that remains if a run stops between its requests.
    pub if_it_stops: Option<String>,
    pub reasons: Vec<Reason>,
    /// Further notes.
    pub notes: Vec<String>,
    /// The warnings of checks about its declaration.
    pub warnings: Vec<CheckWarning>,
    /// The messages that the change causes.
    pub sends: Vec<ShownSend>,
    /// Whether it is protected from deletion.
    pub protect: bool,
    /// Whether it may have everyone as its audience.
    pub broadcast: bool,
    /// Paths of ignored fields that differ on the service.
    pub ignored: Vec<String>,
    /// Fields that someone changed on the service since the last apply, and that the plan overwrites.
    pub overwritten: Vec<Overwritten<'p>>,
    /// The numbers of the steps that carry it out.
    pub steps: Vec<usize>,
}

/// A field that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Field<'p> {
    /// Such as push.notification.alert.
    pub path: String,
    /// The old value. Missing if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<&'p Value>,
    /// The new value. Missing if it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<&'p Value>,
    /// An unchanged item that moved in its list: the positions before and after, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<(usize, usize)>,
}

/// A field that someone changed on the service, with its value on all three sides. A side that lacks the field is missing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Overwritten<'p> {
    /// Such as push.notification.alert.
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied: Option<&'p Value>,
    /// Its value on the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<&'p Value>,
    /// Its value after the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<&'p Value>,
    /// Whether it was changed in git as well.
    pub changed_in_git: bool,
}

/// The time in which a resource sends messages by itself.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Runs {
    /// Null: as soon as it exists.
    pub first: Option<String>,
    pub last: Option<String>,
}

/// A reason for a change, or a note about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reason {
    /// Such as collision, in_doubt or too_late.
    pub reason: String,
    /// The reason in words, and what to do about it, a line each.
    pub words: Vec<String>,
    /// Its ids, addresses and times.
    pub about: Value,
}

/// A warning of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckWarning {
    pub code: String,
    pub message: String,
    /// The position of the value that it is about.
    pub file: Option<String>,
    pub line: Option<usize>,
}

/// A message that a change causes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownSend {
    /// The address of its sender; for an unmanaged sender, a description.
    pub by: String,
    /// The tag that triggers it.
    pub tag: Option<String>,
    /// Whether the removal of the tag triggers it.
    pub removed: bool,
    /// The seconds from the change to the message; 0 means at once.
    pub after_seconds: i64,
    /// The recipient.
    pub to: String,
}

/// The division of an audience among the variants of an experiment, in words: `40 % / 40 % / 20 % nobody`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedSplit {
    pub old: Option<String>,
    pub new: Option<String>,
}

/// The whole plan as one JSON object.
pub fn json(plan: &Plan, ahead: &NextSteps) -> String {
    let mut text = serde_json::to_string_pretty(&PlanDocument::new(plan, ahead)).expect("a plan has text keys only");
    text.push('\n');
    text
}

impl<'p> PlanDocument<'p> {
    pub fn new(plan: &'p Plan, ahead: &NextSteps) -> Self {
        let view = PlanView::of(plan, &ahead.again);
        let digest = plan.digest();
        let told = |change: &&plan::Change| change.is_told() || change.action == Action::Past;
        Self {
            format_version: 1,
            short_digest: digest.short(),
            digest: digest.to_string(),
            older: Older::new(plan),
            open_gap: OpenGap::new(plan),
            compared_with: ComparedWith::new(plan),
            tool: plan.tool.clone(),
            target: plan.target.clone(),
            origin: plan.origin.clone(),
            api: word(&plan.level),
            made: plan.made.to_string(),
            expires: plan.expires.to_string(),
            in_sync: plan.is_in_sync(),
            counts: ActionCounts::new(&view),
            verdict: super::messages::verdict(&view, Some(ahead)).into_iter().map(|(words, _)| words).collect(),
            messages: PlanMessage::all(&view),
            people: PlanPeople::of(plan),
            loosened: LoosenedGuard::all(plan),
            tightened_quiet_hours: TightenedQuietHours::of(plan),
            changes: plan.changes.iter().filter(told).map(|change| PlanChange::new(&view, change)).collect(),
            steps: plan.steps.iter().map(PlanStep::new).collect(),
            left_out: plan.left_out.iter().map(ToString::to_string).collect(),
            at_work: plan.told.at_work.as_deref(),
            promoted_from: promoted_from(plan),
            held: NotPromotedJson::all(plan),
            collisions: view.collisions().all.found.iter().map(Collision::new).collect(),
            uncompared: view.collisions().all.uncompared,
            last_apply: plan.told.last_apply.map(|at| at.to_string()),
            unmanaged: plan.basis.is_service().then(|| NotInGit::all(plan)),
            unlisted: Unlisted::all(plan),
            nothing_declared: plan.told.nothing_declared.as_ref().map(NothingDeclared::new),
            refused: ahead.refused.iter().map(Refusal::new).collect(),
        }
    }
}

fn lines(row: &Row) -> impl Iterator<Item = String> {
    row.lines.iter().map(Words::plain)
}

impl<'p> PlanChange<'p> {
    fn new(view: &PlanView, change: &'p plan::Change) -> Self {
        let plan::Change {
            address,
            action,
            name,
            place,
            id,
            desired,
            live,
            ledger,
            moved,
            reasons,
            sends,
            protect,
            broadcast,
            ignored,
        } = change;
        let after = desired.as_deref().filter(|_| *action != Action::Delete);
        let found = Difference::between(before(change), after);
        let side = if after.is_some() { review::Side::After } else { review::Side::Before };
        let runs = desired.as_deref().or(before(change)).and_then(|spec| kinds::api(address).runs(spec));
        let (times, times_gone) = Time::all(view, change);
        let told = view.plan.told.of.get(address);
        Self {
            resource: address.resource().to_string(),
            address: address.to_string(),
            action: change.shown().into(),
            name: name.clone(),
            file: place.as_ref().map(|place| place.file.to_string()),
            line: place.as_ref().map(|place| place.line),
            id: id.clone(),
            risk: super::Risk::of(change, view.plan, &view.review).into(),
            moved: moved.map(MovedSide::from),
            unchanged_fields: found.same,
            fields: found.fields.into_iter().map(Field::new).collect(),
            renamed_variables: Renamed::all(before(change), after),
            desired: desired.as_deref(),
            live: live.as_deref(),
            last_applied: ledger.as_deref(),
            runs: runs.map(|runs| Runs {
                first: runs.first.map(|at| at.to_string()),
                last: runs.last.map(|at| at.to_string()),
            }),
            times,
            times_gone,
            set_off_by: view.review.set_off(change, side),
            audiences: view.review.who(change).iter().map(Audience::new).collect(),
            split: view.review.splits(change).map(ChangedSplit::new),
            messages: view.review.messages(change, side).into_iter().map(ShownMessage::new).collect(),
            used_by: User::all(view, change),
            last_used: told.and_then(|told| told.last_used).map(|at| at.to_string()),
            if_it_stops: requests::if_it_stops(view, change),
            reasons: reasons.iter().map(|reason| Reason::new(view, change, reason)).collect(),
            notes: words::notes(view, change).iter().flat_map(lines).collect(),
            warnings: told.map(|told| told.warnings.iter().map(CheckWarning::new).collect()).unwrap_or_default(),
            sends: sends.iter().map(ShownSend::new).collect(),
            protect: *protect,
            broadcast: *broadcast,
            ignored: ignored.clone(),
            overwritten: change.overwritten().into_iter().map(Overwritten::new).collect(),
            steps: view.steps_of(change).iter().map(|step| step.number).collect(),
        }
    }
}

impl CheckWarning {
    fn new(DeclarationWarning { code, message, place }: &DeclarationWarning) -> Self {
        Self {
            code: code.clone(),
            message: message.clone(),
            file: place.as_ref().map(|place| place.file.to_string()),
            line: place.as_ref().map(|place| place.line),
        }
    }
}

impl ChangedSplit {
    fn new((old, new): (Option<Split>, Option<Split>)) -> Self {
        let words = |split: Option<Split>| split.map(|split| split.to_string());
        Self { old: words(old), new: words(new) }
    }
}

impl<'p> Field<'p> {
    pub(super) fn new(field: crate::review::fields::Field<'p>) -> Self {
        Self { path: field.path, old: field.old, new: field.new, moved: field.moved }
    }
}

impl<'p> Overwritten<'p> {
    fn new(field: plan::Overwritten<'p>) -> Self {
        let changed_in_git = field.is_of_both();
        let plan::Overwritten { path, last_applied, service, git } = field;
        Self { path, last_applied, service, git, changed_in_git }
    }
}

impl Reason {
    fn new(view: &PlanView, change: &plan::Change, reason: &plan::Reason) -> Self {
        let (name, about) = match serde_json::to_value(reason) {
            Ok(Value::Object(map)) => map.into_iter().next().unwrap_or_default(),
            Ok(Value::String(name)) => (name, Value::Null),
            _ => (String::new(), Value::Null),
        };
        Self { reason: name, words: lines(&words::why(view, change, reason)).collect(), about }
    }
}

impl ShownSend {
    fn new(send: &plan::CausedSend) -> Self {
        let plan::CausedSend { by, tag, removed, after_seconds, to } = send.clone();
        Self { by: by.to_string(), tag, removed, after_seconds, to }
    }
}
