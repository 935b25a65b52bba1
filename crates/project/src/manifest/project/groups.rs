//! `[groups.<name>]` in the project file: common settings of several targets.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::is_key;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, Decode, Fields, MapEntry, Node, Reader, Tree};
use pushplan_model::nouns::many::Many;
use pushplan_model::text;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;

use super::Target;

/// The keys of a group that a target does not have.
const OWN: [&str; 2] = ["targets", "groups"];

/// Several targets, and the settings that they share.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Group {
    /// Patterns of names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<At<String>>,
    /// Groups whose targets belong to it as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<At<String>>,
    #[serde(flatten)]
    pub settings: Target,
}

impl Decode for Group {
    const WHAT: &'static str = "a group: targets = [\"*-de\"], and settings as a target has them";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let targets = fields.take::<Option<Many<At<String>>>>(OWN[0], reader);
        let groups = fields.take::<Option<Many<At<String>>>>(OWN[1], reader);
        let settings = Target::decode(&settings(node), reader);
        let list = |given: Option<Many<At<String>>>| given.map(|many| many.0).unwrap_or_default();
        Some(Self { targets: list(targets?), groups: list(groups?), settings: settings? })
    }
}

impl JsonSchema for Group {
    fn schema_name() -> Cow<'static, str> {
        "Group".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Target::json_schema(generator).to_value();
        let names = generator.subschema_for::<Many<At<String>>>().to_value();
        let with = |description: &str| {
            let mut names = names.clone();
            names["description"] = description.into();
            names
        };
        schema["description"] = json!(
            "Several targets and their common settings. The target's own table overrides \
            them."
        );
        schema["properties"][OWN[0]] =
            with("The targets of this group: names, or patterns such as `*-de`, where `*` matches any characters.");
        schema["properties"][OWN[1]] = with("Groups whose targets also belong to this group.");
        Schema::try_from(schema).expect("an object is a schema")
    }
}

/// The settings in a group's table.
pub fn settings(node: &Node) -> Node {
    let entries = node.entries().unwrap_or_default().iter();
    let rest: Vec<MapEntry> = entries.filter(|entry| !OWN.contains(&entry.key.as_str())).cloned().collect();
    Node { span: node.span, tree: Tree::Map(rest) }
}

/// The groups of each target, in the order of the file.
pub type Members = BTreeMap<String, Vec<String>>;

/// Computes the members of each group, and reports problems.
pub fn members<'g>(
    groups: &'g BTreeMap<At<String>, Group>,
    targets: &'g [At<String>],
    findings: &mut Findings,
) -> Members {
    let mut in_order: Vec<&At<String>> = groups.keys().collect();
    in_order.sort_by_key(|name| name.span.range().start);
    let mut members = Members::new();
    for name in in_order {
        inspect(name, groups, targets, findings);
        let mut within = Within { groups, targets, path: Vec::new(), seen: BTreeSet::new(), all: BTreeSet::new() };
        within.gather(name, findings);
        for target in within.all {
            members.entry(target.to_owned()).or_default().push(name.value.clone());
        }
    }
    members
}

fn inspect(name: &At<String>, groups: &BTreeMap<At<String>, Group>, targets: &[At<String>], findings: &mut Findings) {
    if !is_key(name) {
        let message = format!("`{}` is not a valid name of a group", text::short(name, 60));
        findings.push(Finding::new(&codes::RF117, name.span, message).label("up to 128 letters, digits, -, _ and ."));
    }
    if let Some(target) = targets.iter().find(|target| *target == name) {
        findings.push(
            Finding::new(&codes::RF117, name.span, format!("a group and a target have the same name, `{name}`"))
                .label("the group")
                .related(target.span, "the target")
                .note("an overlay with this name would be ambiguous")
                .help("rename the group"),
        );
    }
    let names: Vec<&str> = targets.iter().map(|name| name.as_str()).collect();
    for pattern in groups[name].targets.iter().filter(|pattern| !names.iter().any(|it| text::is_like(pattern, it))) {
        let finding = Finding::new(&codes::RF117, pattern.span, format!("no target is called `{pattern}`"));
        let finding = finding.label("matches nothing");
        findings.push(match text::nearest(pattern, names.iter().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => finding.help("add [targets.<name>] to pushplan.toml"),
            None => finding.help(format!("the targets are {}", text::all_of(&some(&names)))),
        });
    }
    if groups[name].targets.is_empty() && groups[name].groups.is_empty() {
        let finding = Finding::new(&codes::RF117, name.span, format!("the group `{name}` has no targets"));
        findings.push(finding.label("no targets").help("add targets = [\"*-de\"], or remove the group"));
    }
    for other in groups[name].groups.iter().filter(|other| !groups.contains_key(*other)) {
        findings.push(unknown(other, groups.keys().map(|name| name.as_str())));
    }
}

/// The first few names, and the number of others.
pub fn some(names: &[&str]) -> Vec<String> {
    const FEW: usize = 8;
    let mut few: Vec<String> = names.iter().take(FEW).map(|name| (*name).to_owned()).collect();
    if names.len() > FEW {
        few.push(format!("{} more", names.len() - FEW));
    }
    few
}

fn unknown<'g>(name: &At<String>, groups: impl Iterator<Item = &'g str>) -> Finding {
    let names: Vec<&str> = groups.collect();
    let finding = Finding::new(&codes::RF117, name.span, format!("no group has the name `{name}`")).label("not known");
    match text::nearest(name, names.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(format!("expected {}", text::any_of(&some(&names)))),
    }
}

/// The targets of a group and of its nested groups, while they are collected.
struct Within<'g> {
    groups: &'g BTreeMap<At<String>, Group>,
    targets: &'g [At<String>],
    /// The groups on the path to this one, the outermost first.
    path: Vec<&'g str>,
    seen: BTreeSet<&'g str>,
    all: BTreeSet<&'g str>,
}

impl<'g> Within<'g> {
    /// Adds the targets of a group. A group that contains itself is reported.
    fn gather(&mut self, name: &'g At<String>, findings: &mut Findings) {
        let Some(group) = self.groups.get(name) else { return };
        // Each circle is reported once: at its first group.
        if self.path.first() == Some(&name.as_str()) && self.path.iter().min() == self.path.first() {
            let circle: Vec<String> =
                self.path.iter().chain([&name.as_str()]).map(|name| format!("`{name}`")).collect();
            let message = format!("groups contain each other in a circle: {}", circle.join(" contains "));
            let finding = Finding::new(&codes::RF117, name.span, message).label("leads back");
            findings.push(finding.help("remove one of them from `groups`"));
        }
        if !self.seen.insert(name) {
            return;
        }
        self.path.push(name);
        let is_in = |target: &&At<String>| group.targets.iter().any(|pattern| text::is_like(pattern, target));
        self.all.extend(self.targets.iter().filter(is_in).map(|target| target.as_str()));
        for other in &group.groups {
            self.gather(other, findings);
        }
        self.path.pop();
    }
}
