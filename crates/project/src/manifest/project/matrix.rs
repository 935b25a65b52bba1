//! `[matrix]` in the project file: generated targets, one for each combination of values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::is_key;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, Decode, Fields, MapEntry, Node, Reader, Style, Tree};
use pushplan_model::nouns::many::Many;
use pushplan_model::source::Span;
use pushplan_model::text;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;

use super::{Target, Value};
use crate::manifest::variables::is_name;

/// The keys of `[matrix]` that are no axes.
const OWN: [&str; 3] = ["name", "exclude", "target"];
/// Separators for the values in a proposed name.
const BETWEEN: [&str; 4] = ["-", "_", ".", "--"];
/// The maximal number of targets of a matrix.
const MOST: usize = 2_000;

/// Values by axis.
type Chosen = BTreeMap<At<String>, At<Value>>;

/// The axes of a matrix, the names of its targets, and the excluded combinations. Its `target` is read once for each.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Matrix {
    #[serde(flatten)]
    pub axes: BTreeMap<At<String>, Many<At<Value>, 1>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<At<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Chosen>,
}

impl Decode for Matrix {
    const WHAT: &'static str = "axes, such as brand = [\"shop\", \"cafe\"]";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let (name, exclude) = (fields.take("name", reader), fields.take::<Option<Vec<Chosen>>>("exclude", reader));
        let mut axes = BTreeMap::new();
        let mut whole = true;
        let is_axis = |entry: &&MapEntry| !entry.is_own() && !OWN.contains(&entry.key.as_str());
        for entry in node.entries().unwrap_or_default().iter().filter(is_axis) {
            match reader.value(entry) {
                Some(values) => drop(axes.insert(entry.key.clone(), values)),
                None => whole = false,
            }
        }
        let (name, exclude) = (name?, exclude?.unwrap_or_default());
        whole.then_some(Self { axes, name, exclude })
    }
}

impl JsonSchema for Matrix {
    fn schema_name() -> Cow<'static, str> {
        "Matrix".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<Many<At<Value>, 1>>();
        let value = generator.subschema_for::<Value>();
        let target = generator.subschema_for::<Target>();
        let schema = json!({
            "description": "Generated targets: one for each combination of the values of the axes, such as `brand = \
                [\"shop\", \"cafe\"]`. Each target has the values as variables.",
            "type": "object",
            "properties": {
                "name": {
                    "description": "The name of each target, such as `${brand}-${country}` [default: the values, \
                        joined with `-`].",
                    "type": "string",
                },
                "exclude": {
                    "description": "Combinations without a target, such as `{brand = \"cafe\", country = \"us\"}`.",
                    "type": "array",
                    "items": { "type": "object", "additionalProperties": value },
                },
                "target": {
                    "description": "Settings of all these targets. `${brand}` is replaced with the value of the axis.",
                    "allOf": [target],
                },
            },
            "patternProperties": { "^x-": true },
            "additionalProperties": values,
        });
        Schema::try_from(schema).expect("an object is a schema")
    }
}

/// One combination: a value of each axis, in the order of the file.
type Combination<'m> = Vec<(&'m At<String>, &'m At<Value>)>;

/// A generated target: its name, its values by axis, and its table without groups and its own table.
#[derive(Debug)]
pub struct Made {
    pub name: At<String>,
    pub values: AxisValues,
    pub table: Node,
}

/// The values of a generated target, by axis.
pub type AxisValues = BTreeMap<String, String>;

impl Matrix {
    /// The finding for two combinations with one name.
    fn twice(&self, name: &At<String>, first: &Combination, second: &Combination) -> Finding {
        let message = format!("two targets would have the name `{name}`: {}; and {}", words(first), words(second));
        let finding = Finding::new(&codes::RF116, name.span, message).label("the same for both");
        if words(first) == words(second) {
            let is_twice = |value: &Value, all: &[At<Value>]| all.iter().filter(|other| other.0 == value.0).count() > 1;
            let again = first.iter().find(|(axis, value)| self.axes.get(*axis).is_some_and(|all| is_twice(value, all)));
            let what = again.map(|(axis, value)| format!("`{}` of {axis}", value.0)).unwrap_or_default();
            return finding.help(format!("write {what} once"));
        }
        finding.help(match self.free_name() {
            Some(name) => format!("write a unique name: name = \"{name}\""),
            None => "change the spelling of one of the values".to_owned(),
        })
    }

    /// A name pattern with every axis that is unique for each combination.
    fn free_name(&self) -> Option<String> {
        let axes: Vec<String> = self.combinations().first()?.iter().map(|(axis, _)| format!("${{{axis}}}")).collect();
        let is_free = |between: &&&str| {
            let mut seen = BTreeSet::new();
            self.combinations().iter().all(|combination| {
                let values: Vec<&str> = combination.iter().map(|(_, value)| value.0.as_str()).collect();
                let name = values.join(between);
                is_key(&name) && seen.insert(name)
            })
        };
        BETWEEN.iter().find(is_free).map(|between| axes.join(between))
    }

    /// Generates the targets. `at` is the position of the matrix, `target` the common table.
    pub fn targets(&self, at: Span, target: Option<&Node>, findings: &mut Findings) -> Vec<Made> {
        let before = findings.len();
        self.inspect(at, findings);
        if findings.len() > before {
            return Vec::new();
        }
        let mut made: Vec<(Made, Combination)> = Vec::new();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for combination in self.combinations() {
            // A problem with one name usually applies to many.
            let Some(name) = self.named(&combination, at, findings) else { return Vec::new() };
            if let Some(first) = names.get(&name.value) {
                findings.push(self.twice(&name, &made[*first].1, &combination));
                return Vec::new();
            }
            names.insert(name.value.clone(), made.len());
            let table = table(&combination, target, at, findings);
            let values = combination.iter().map(|(axis, value)| (axis.value.clone(), value.0.clone())).collect();
            made.push((Made { name, values, table }, combination));
        }
        if made.is_empty() && findings.len() == before {
            let finding = Finding::new(&codes::RF116, at, "the matrix has no target").label("no combination is left");
            findings.push(finding.help("remove one of the combinations from `exclude`"));
        }
        made.into_iter().map(|(made, _)| made).collect()
    }

    /// Its axes in the order of the file.
    fn in_order(&self) -> Vec<(&At<String>, &Many<At<Value>, 1>)> {
        let mut axes: Vec<_> = self.axes.iter().collect();
        axes.sort_by_key(|(name, _)| name.span.range().start);
        axes
    }

    fn inspect(&self, at: Span, findings: &mut Findings) {
        for name in self.axes.keys().filter(|name| !is_name(name)) {
            findings.push(
                Finding::new(&codes::RF112, name.span, format!("`{name}` is not a valid name of an axis"))
                    .label("letters, digits, - and _")
                    .note("the values of an axis are variables of its targets"),
            );
        }
        if self.axes.is_empty() {
            let finding = Finding::new(&codes::RF116, at, "the matrix has no axis").label("no target");
            findings.push(finding.help("add one, such as brand = [\"shop\", \"cafe\"]"));
        }
        for name in self.exclude.iter().flat_map(BTreeMap::keys).filter(|name| !self.axes.contains_key(*name)) {
            findings.push(self.unknown(name, name.span));
        }
        for (axis, value) in self.exclude.iter().flatten() {
            let Some(values) = self.axes.get(axis).filter(|values| !values.contains(value)) else { continue };
            let names: Vec<&str> = values.iter().map(|value| value.0.as_str()).collect();
            let message = format!("`{axis}` has no value `{}`, so this excludes nothing", text::short(&value.0, 40));
            let finding = Finding::new(&codes::RF116, value.span, message).label("not known");
            findings.push(finding.help(match text::nearest(&value.0, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected {}", text::any_of(&names)),
            }));
        }
        let number = self.axes.values().fold(1_usize, |number, values| number.saturating_mul(values.len()));
        if number > MOST {
            findings.push(
                Finding::new(&codes::YM106, at, format!("the matrix has {number} targets, but the limit is {MOST}"))
                    .label("too many combinations")
                    .help("remove values, or split the project"),
            );
        }
    }

    fn unknown(&self, name: &str, at: Span) -> Finding {
        let names: Vec<&str> = self.axes.keys().map(|name| name.as_str()).collect();
        let finding = Finding::new(&codes::RF116, at, format!("the matrix has no axis `{}`", text::short(name, 40)));
        let finding = finding.label("not known");
        match text::nearest(name, names.iter().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!("expected {}", text::any_of(&names))),
        }
    }

    /// Every combination that is not excluded; the last axis changes first.
    fn combinations(&self) -> Vec<Combination<'_>> {
        let mut all: Vec<Combination> = vec![Vec::new()];
        for (axis, values) in self.in_order() {
            let mut longer = Vec::with_capacity(all.len() * values.len());
            for one in all {
                longer.extend(values.iter().map(|value| [one.as_slice(), &[(axis, value)]].concat()));
            }
            all = longer;
        }
        let is_excluded = |one: &Combination| {
            let is_it =
                |chosen: &Chosen| !chosen.is_empty() && chosen.iter().all(|(axis, value)| one.contains(&(axis, value)));
            self.exclude.iter().any(is_it)
        };
        all.retain(|one| !is_excluded(one));
        all
    }

    fn named(&self, combination: &Combination, at: Span, findings: &mut Findings) -> Option<At<String>> {
        let name = match &self.name {
            Some(name) => At::new(fill(name, combination, name.span, findings)?, name.span),
            None => {
                let values: Vec<&str> = combination.iter().map(|(_, value)| value.0.as_str()).collect();
                At::new(values.join("-"), combination.first().map_or(at, |(_, value)| value.span))
            }
        };
        if is_key(&name) {
            return Some(name);
        }
        let message = format!("`{}` is not a valid name of a target", text::short(&name, 60));
        findings.push(
            Finding::new(&codes::RF116, name.span, message)
                .label("up to 128 letters, digits, -, _ and .")
                .note("a target's name is also the name of its ledger")
                .help("change `name` of the matrix to use only these characters"),
        );
        None
    }
}

fn words(combination: &Combination) -> String {
    combination.iter().map(|(axis, value)| format!("{axis} = {}", value.0)).collect::<Vec<_>>().join(", ")
}

/// The table of a target: the common table with the values filled in, and the values as variables.
fn table(combination: &Combination, target: Option<&Node>, at: Span, findings: &mut Findings) -> Node {
    let variables = combination
        .iter()
        .map(|(axis, value)| MapEntry { key: (*axis).clone(), value: Node::filled(value.span, value.0.clone()) });
    let variables = Node { span: at, tree: Tree::Map(variables.collect()) };
    let own = MapEntry { key: At::new("variables".to_owned(), at), value: variables };
    let own = Node { span: at, tree: Tree::Map(vec![own]) };
    let Some(target) = target else { return own };
    let mut filled = target.clone();
    fill_tree(&mut filled, combination, findings);
    crate::manifest::merge::lay(&own, &filled)
}

fn fill_tree(node: &mut Node, combination: &Combination, findings: &mut Findings) {
    let span = node.span;
    match &mut node.tree {
        Tree::List(items) => items.iter_mut().for_each(|item| fill_tree(item, combination, findings)),
        Tree::Map(entries) => {
            entries.iter_mut().for_each(|entry| fill_tree(&mut entry.value, combination, findings));
        }
        Tree::Scalar(scalar) if scalar.text.contains("${") => {
            if let Some(text) = fill(&scalar.text, combination, span, findings) {
                scalar.text = text;
                scalar.style = Style::Filled;
            }
        }
        Tree::Scalar(_) => {}
    }
}

/// A text with the values of axes filled in. Unknown axes are reported.
fn fill(text: &str, combination: &Combination, at: Span, findings: &mut Findings) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            out.push_str(&rest[..start - 1]);
            out.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let name = inner.split('}').next().unwrap_or_default();
        let value = combination.iter().find(|(axis, _)| axis.as_str() == name).map(|(_, value)| value.0.as_str());
        let Some(value) = value.filter(|_| inner.len() > name.len()) else {
            findings.push(no_axis(name, combination, at));
            return None;
        };
        out.push_str(value);
        rest = &inner[name.len() + 1..];
    }
    out.push_str(rest);
    Some(out)
}

fn no_axis(name: &str, combination: &Combination, at: Span) -> Finding {
    let names: Vec<&str> = combination.iter().map(|(axis, _)| axis.as_str()).collect();
    let written: Vec<String> = names.iter().map(|name| format!("${{{name}}}")).collect();
    let plain = name.strip_prefix("var.").unwrap_or(name);
    let finding = Finding::new(&codes::RF116, at, format!("the matrix has no axis `{}`", text::short(name, 40)))
        .label("not known");
    match text::nearest(plain, names.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `${{{near}}}`? For the characters themselves write $${{")),
        None => finding.help(format!("expected {}; for the characters themselves write $${{", text::any_of(&written))),
    }
}
