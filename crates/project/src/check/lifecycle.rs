//! The `lifecycle` settings of a resource.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::Shared;
use pushplan_model::nouns::field_path::pointer;
use pushplan_model::text;

use super::{Check, CheckScope, Dissected, Subject};
use crate::manifest::Desired;
use crate::manifest::fields::Book;

/// All fields that a manifest can have.
static BOOK: LazyLock<Book> = LazyLock::new(Book::default);

/// A path in `lifecycle.ignore` without a field, which would have no effect.
pub(crate) const IGNORED: Check = Check { codes: &[&codes::RF114], run: CheckScope::Each(ignored) };

fn ignored(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(paths) = &one.declared.lifecycle.ignore else { return };
    let units = one.declared.spec.units(&one.address.key);
    for path in paths {
        let is_there = |(_, spec): &(String, Shared)| pointer(spec, path).is_some();
        let own = without_places(path);
        let is_known = || !own.starts_with("lifecycle") && BOOK.find(&format!("{}.{own}", one.address.kind)).is_some();
        if units.iter().any(is_there) || is_known() {
            continue;
        }
        let known = BOOK.paths();
        let below = format!("{}.", one.address.kind);
        let known = known.iter().filter_map(|path| path.strip_prefix(&below));
        let (noun, last) = (kind_noun(one), own.rsplit('.').next().unwrap_or_default());
        let finding = Finding::new(&codes::RF114, path.span, format!("{noun} has no field `{path}`"))
            .label("has no effect: the service has no such field");
        let ends = |path: &&str| path.rsplit('.').next() == Some(last);
        let near = text::nearest(&own, known.clone()).or_else(|| known.clone().find(ends));
        findings.push(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help("write the path as a plan shows it, such as `push.notification.alert`"),
        });
    }
}

/// An old key that is still in use, or that two resources claim.
pub(crate) const RENAMED: Check = Check { codes: &[&codes::RF115], run: CheckScope::All(renamed) };

fn renamed(subject: &Subject, findings: &mut Findings) {
    let Desired { resources, broken, .. } = subject.desired;
    let mut claimed: BTreeMap<Address, &Address> = BTreeMap::new();
    for (address, declared) in resources {
        let Some(old) = &declared.lifecycle.renamed_from else { continue };
        let from = Address::new(address.kind, old.value.clone());
        let finding = if resources.contains_key(&from) || broken.contains(&from) {
            Finding::new(
                &codes::RF115,
                old.span,
                format!(
                    "{from} is still declared, so {address} cannot be renamed \
                from it"
                ),
            )
            .label("still in use")
            .help("remove the old one, or remove `renamed_from` to have both")
        } else if let Some(other) = claimed.insert(from.clone(), address) {
            Finding::new(&codes::RF115, old.span, format!("{from} cannot be renamed to both {other} and {address}"))
                .label("used by another resource")
                .help("remove `renamed_from` from one of them")
        } else {
            continue;
        };
        let mut found = Findings::about(address);
        found.push(finding);
        findings.extend(found.into_vec());
    }
}

fn kind_noun(one: &Dissected) -> String {
    let noun = pushplan_model::kinds::of(one.address).noun;
    format!("the {noun} `{}`", one.address.key)
}

/// A path without positions in lists, because the schema has one form for all items.
fn without_places(path: &str) -> String {
    let words = path.split('.').filter(|word| word.parse::<usize>().is_err());
    let plain = words.map(|word| word.split('[').next().unwrap_or_default());
    plain.collect::<Vec<_>>().join(".")
}
