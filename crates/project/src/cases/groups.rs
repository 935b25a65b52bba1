//! The variant of each experiment that the device of a case gets.

use std::collections::BTreeMap;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::Parts;
use pushplan_model::node::At;
use pushplan_model::nouns::split::Split;
use pushplan_model::text::count;

use super::{Against, language};

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
