//! Hosts of links that resemble other hosts of the project.

use std::collections::BTreeMap;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Parts;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::{fillable, own};
use crate::look::hosts::{self, Hosts};

pub const HOSTS: Check = Check { codes: &[&codes::MS119], run: CheckScope::All(mistaken) };

/// The number of a project's hosts that are compared with each other.
const MOST: usize = 1_000;

/// The resources that use a host, with the first position in each.
type Uses<'d> = Vec<(&'d Address, Span)>;

fn mistaken(subject: &Subject, findings: &mut Findings) {
    let mut uses: BTreeMap<String, Uses> = BTreeMap::new();
    for (address, declared) in &subject.desired.resources {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        let one = Dissected { address, declared, parts };
        for said in own(subject, &one) {
            for text in fillable(&said).filter(|text| text.contains("//")) {
                let mut found = Hosts::new();
                hosts::in_text(text, &mut found);
                for host in found.into_keys() {
                    let uses = uses.entry(host).or_default();
                    if uses.last().is_none_or(|(last, _)| *last != address) {
                        uses.push((address, text.span));
                    }
                }
            }
        }
    }
    let is_few = uses.len() <= MOST;
    for (host, own) in &uses {
        let is_number = hosts::is_address(host);
        let others = uses.iter().filter(|(_, others)| is_few && others.len() > own.len());
        let other = hosts::resembling(host, others.map(|(name, _)| name.as_str()));
        let Some((message, label)) = (match other {
            Some(other) => {
                let number = text::count(uses[other].len(), "resource");
                Some((format!("`{host}` looks like `{other}`, which {number} link to"), "this host"))
            }
            None if is_number => {
                Some((format!("the link leads to the IP address {host}, not to a name"), "an IP address"))
            }
            None => None,
        }) else {
            continue;
        };
        for (address, at) in own {
            let mut finding = Finding::new(&codes::MS119, *at, message.clone())
                .label(label)
                .within(host.clone(), 0)
                .note("to keep the link, add `lifecycle: {allow: [MS119]}`")
                .help("write the intended host");
            finding.address = Some((*address).clone());
            findings.push(finding);
        }
    }
}
