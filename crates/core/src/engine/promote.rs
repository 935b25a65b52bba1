//! Which target is promoted to which. [`crate::plan::Aim::Promoted`] plans it.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_io::failure::Failure;
use pushplan_model::text::{all_of, short};
use pushplan_project::manifest::{AxisValues, Project};

use super::select::{is_plain, select};
use super::target;

/// The number of targets without a counterpart that are named.
const NAMED: usize = 20;

/// The source of each destination of a promotion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    pub sources: BTreeMap<String, String>,
    /// The targets of either side that have no counterpart, each with the reason.
    pub unpaired: Vec<(String, String)>,
}

impl Pairs {
    /// One source for all of these destinations.
    fn of_one(source: &str, destinations: Vec<String>) -> Self {
        let sources = destinations.into_iter().map(|destination| (destination, source.to_owned())).collect();
        Self { sources, unpaired: Vec::new() }
    }

    /// Refuses targets without a counterpart.
    pub fn check_whole(&self) -> Result<(), Failure> {
        if self.unpaired.is_empty() {
            return Ok(());
        }
        let mut lines: Vec<String> =
            self.unpaired.iter().take(NAMED).map(|(target, why)| format!("\n       {target}: {why}")).collect();
        if self.unpaired.len() > NAMED {
            lines.push(format!("\n       and {} more", self.unpaired.len() - NAMED));
        }
        let (these, are) = if self.unpaired.len() == 1 { ("this target", "has") } else { ("these targets", "have") };
        let message = format!("{these} {are} no counterpart, so nothing was promoted:{}", lines.concat());
        Err(Failure::usage(message).help(match self.sources.len() {
            0 => "choose targets that differ in one dimension of the matrix, such as --from staging --to production",
            _ => "promote the other targets with --skip-unpaired, or choose others with --from and --to",
        }))
    }
}

/// Pairs the targets of both sides. One named source has all destinations. Otherwise, the targets of the matrix are paired that
/// differ in one dimension and have the same values in all others.
pub fn pairs(project: &Project, from: &[String], to: &[String]) -> Result<Pairs, Failure> {
    let names = project.target_names();
    if let [source] = from
        && is_plain(source)
        // A project file without targets has another error, which is reported when it is read.
        && (project.target(source).is_some() || names.is_empty())
    {
        let destinations = if names.is_empty() { to.to_vec() } else { select(project, to)? };
        destinations.iter().try_for_each(|destination| check_destination(source, destination))?;
        return Ok(Pairs::of_one(source, destinations));
    }
    if let [word] = from
        && is_plain(word)
        && project.targets_of(word).is_empty()
        && project.targets_with(word).is_empty()
    {
        return Err(target::unknown(word, &names));
    }
    let (sources, destinations) = (select(project, from)?, select(project, to)?);
    if let Some(both) = sources.iter().find(|source| destinations.contains(source)) {
        check_destination(both, both)?;
    }
    matched(&located(project, sources)?, &located(project, destinations)?)
}

/// Refuses to promote a target to itself.
fn check_destination(from: &str, to: &str) -> Result<(), Failure> {
    match to == from {
        true => {
            Err(Failure::usage(format!("`{from}` cannot be promoted to itself"))
                .help("choose another target with --to"))
        }
        false => Ok(()),
    }
}

/// Targets with their values in the matrix.
type Located<'p> = Vec<(String, &'p AxisValues)>;

fn located(project: &Project, targets: Vec<String>) -> Result<Located<'_>, Failure> {
    let one = |name: String| match project.axis_values(&name) {
        Some(values) => Ok((name, values)),
        None => Err(Failure::usage(format!("`{name}` is not from the matrix, so its counterpart is unknown"))
            .help("promote from one target at a time: --from NAME")),
    };
    targets.into_iter().map(one).collect()
}

/// Pairs targets with the same values in all dimensions but the one in which the sides differ.
fn matched(sources: &Located, destinations: &Located) -> Result<Pairs, Failure> {
    let axis = dimension(sources, destinations)?;
    let others = |values: &AxisValues| -> AxisValues {
        values.iter().filter(|(name, _)| **name != axis).map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let mut by_others: BTreeMap<AxisValues, &str> = BTreeMap::new();
    for (name, values) in sources {
        if let Some(first) = by_others.insert(others(values), name) {
            return Err(Failure::usage(format!("`{first}` and `{name}` would be promoted to the same targets"))
                .help(format!("choose one value of {axis} with --from")));
        }
    }
    let mut pairs = Pairs::default();
    for (name, values) in destinations {
        match by_others.get(&others(values)) {
            Some(source) => drop(pairs.sources.insert(name.clone(), (*source).to_owned())),
            None => pairs.unpaired.push((name.clone(), missing("--from", &others(values)))),
        }
    }
    let used: BTreeSet<&String> = pairs.sources.values().collect();
    let unused = sources.iter().filter(|(name, _)| !used.contains(name));
    let unused: Vec<(String, String)> =
        unused.map(|(name, values)| (name.clone(), missing("--to", &others(values)))).collect();
    pairs.unpaired.extend(unused);
    Ok(pairs)
}

fn missing(option: &str, values: &AxisValues) -> String {
    let values: Vec<String> = values.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
    format!("{option} has no target with {}", short(&values.join(", "), 200))
}

/// The dimension in which the sides have different values.
fn dimension(sources: &Located, destinations: &Located) -> Result<String, Failure> {
    let values = |side: &Located, axis: &String| -> BTreeSet<String> {
        side.iter().filter_map(|(_, values)| values.get(axis).cloned()).collect()
    };
    let axes: Vec<String> = sources.first().map(|(_, values)| values.keys().cloned().collect()).unwrap_or_default();
    let is_apart = |axis: &&String| values(sources, axis).is_disjoint(&values(destinations, axis));
    let apart: Vec<String> = axes.iter().filter(is_apart).cloned().collect();
    let failure = match apart.as_slice() {
        [axis] => return Ok(axis.clone()),
        [] => "the targets of --from and --to differ in no dimension of the matrix".to_owned(),
        several => format!("the targets of --from and --to differ in {}, so their pairs are unknown", all_of(several)),
    };
    Err(Failure::usage(failure)
        .help("choose targets that differ in one dimension, such as --from staging --to production; or one source with --from NAME"))
}
