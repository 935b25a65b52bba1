//! Resources with different keys that are one and the same to the service.

use std::collections::HashMap;

use super::{Check, Run, Subject};
use crate::address::Address;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::kinds;
use crate::text;

pub const TWICE: Check = Check { codes: &[&codes::RF105], run: Run::All(twice) };

fn twice(subject: &Subject, findings: &mut Findings) {
    let resources = subject.desired.resources.iter();
    let mut known: Vec<_> = resources.filter_map(|(address, it)| Some((it.spec.identity()?, address))).collect();
    // The first is the one that stands first, whatever its key is.
    known.sort_by_key(|(identity, _)| identity.at);
    let mut firsts: HashMap<(&str, &str), (&Address, &kinds::Identity)> = HashMap::new();
    for (identity, address) in &known {
        let (first, other) = *firsts.entry((&*address.kind, identity.name.as_str())).or_insert((address, identity));
        if first == *address {
            continue;
        }
        let noun = kinds::kind(&address.kind).map_or("resource", |kind| kind.noun);
        let message = format!("{address} and {first} are the same {noun}, `{}`", text::short(&identity.name, 60));
        let mut finding = Finding::new(&codes::RF105, identity.at, message)
            .label("the second")
            .related(other.at, "the first")
            .note("the service has one of them, and nobody can say which of the two it shall be like")
            .help("remove one of them, or give it another name");
        finding.address = Some((*address).clone());
        findings.push(finding);
    }
}
