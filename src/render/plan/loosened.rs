//! The guards that are looser than at the last apply, as every form shows them.

use super::PlanView;
use crate::address::Address;
use crate::kinds;
use crate::plan::Loosened;
use crate::text::count;

/// How many rows are shown.
const SHOWN: usize = 12;

/// What stands before each of them.
pub const LABEL: &str = "LOOSENED";

/// A row: one setting of the target, of a resource, or of several resources alike.
#[derive(Clone, Debug)]
pub struct LoosenedRow {
    /// The one resource that it is a setting of.
    pub address: Option<Address>,
    /// What it is a setting of.
    pub name: String,
    pub words: String,
    /// `all.yaml:2`.
    pub place: Option<String>,
}

/// The rows, and how many are left out.
pub fn rows(view: &PlanView) -> (Vec<LoosenedRow>, usize) {
    let mut groups: Vec<Vec<&Loosened>> = Vec::new();
    for one in &view.plan.told.loosened {
        let kind = |one: &Loosened| one.address.as_ref().map(|address| address.kind);
        let is_alike = |group: &&mut Vec<&Loosened>| group[0].words == one.words && kind(group[0]) == kind(one);
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let more = groups.len().saturating_sub(SHOWN);
    let row = |group: &Vec<&Loosened>| {
        let first = group[0];
        let one = first.address.as_ref().filter(|_| group.len() == 1);
        let name = match (&first.address, one) {
            (None, _) => format!("target {}", view.plan.target),
            (_, Some(address)) => address.to_string(),
            (Some(address), None) => {
                count(group.len(), kinds::kind(&address.kind).map_or("resource", |kind| kind.noun))
            }
        };
        let place = first.place.as_ref().filter(|_| group.len() == 1);
        let place = place.map(|place| format!("{}:{}", place.file, place.line));
        LoosenedRow { address: one.cloned(), name, words: first.words.clone(), place }
    };
    (groups.iter().take(SHOWN).map(row).collect(), more)
}

/// That guards are loosened, as a sentence of the verdict.
pub fn sentence(view: &PlanView) -> Option<String> {
    let number = view.plan.told.loosened.len();
    let verb = if number == 1 { "was" } else { "were" };
    (number > 0).then(|| format!("{} {verb} loosened", count(number, "guard")))
}

/// That there are more of them.
pub fn more(left: usize) -> Option<String> {
    (left > 0).then(|| format!("and {} that were loosened", count(left, "more guard")))
}
