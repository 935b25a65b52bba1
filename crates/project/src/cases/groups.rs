//! The variant of each experiment that the device of a case gets.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::Parts;
use pushplan_model::node::{At, Decode, Node, Plain, Reader, Tree, resolve};
use pushplan_model::nouns::split::Split;
use pushplan_model::text::count;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{Against, language};

/// The number of a variant, from 1; `None` for the control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct WrittenGroup(pub Option<usize>);

impl Decode for WrittenGroup {
    const WHAT: &'static str = "the number of a variant, from 1, or none for the control group";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Tree::Scalar(scalar) = &node.tree {
            match resolve(&scalar.text) {
                Plain::Text if scalar.text == "none" => return Some(Self(None)),
                Plain::Integer(number @ 1..) => return usize::try_from(number).ok().map(|number| Self(Some(number))),
                _ => {}
            }
        }
        reader.unexpected(node, Self::WHAT);
        None
    }
}

impl JsonSchema for WrittenGroup {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "WrittenGroup".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1, "x-words": "the number of a variant, from 1" },
            { "enum": ["none"] },
        ] })
    }
}

/// The groups of a case, with the variants counted from 0. Wrong ones are reported.
pub fn read(
    written: &language::Case,
    against: &Against,
    sender: &mut dyn FnMut(&At<String>) -> Option<Address>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Address, Option<usize>> {
    let mut groups = BTreeMap::new();
    for (name, group) in written.variants.iter().flatten() {
        let Some(address) = sender(name) else { continue };
        if let Some(channel) = &written.device.channel {
            let message = "`variants` cannot be combined with `channel`";
            findings.push(
                Finding::new(&codes::YM206, name.span, message)
                    .label("the id of the channel decides about the variant")
                    .related(channel.span, "the id is fixed here")
                    .help("remove `channel`, or remove `variants`"),
            );
            continue;
        }
        let Some(split) = split(&address, against) else {
            let message = format!("`{address}` has no variants");
            findings.push(Finding::new(&codes::YM206, name.span, message).label("not an experiment"));
            continue;
        };
        match group.value.0 {
            Some(number) if number > split.variants() => {
                let message = format!("`{address}` has {}", count(split.variants(), "variant"));
                findings.push(Finding::new(&codes::YM206, group.span, message).label("no such variant"));
            }
            None if split.control().0 == 0.0 => {
                let message = format!("`{address}` has no control group, so every device gets a variant");
                findings.push(
                    Finding::new(&codes::YM206, group.span, message)
                        .label("no device gets nothing")
                        .help("write the number of a variant, or add `control` to the experiment"),
                );
            }
            group => drop(groups.insert(address, group.map(|number| number - 1))),
        }
    }
    groups
}

/// The division of the audience of an experiment.
fn split(address: &Address, against: &Against) -> Option<Split> {
    let declared = against.desired.resources.get(address)?;
    let mut parts = Parts::new(&declared.key);
    declared.spec.parts(&mut parts);
    parts.split
}
