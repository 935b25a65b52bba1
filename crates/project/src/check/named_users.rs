//! Named users in messages and tag groups.

use std::collections::HashMap;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{NamedUser, Parts, TagGroup, of_kind};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::Selector;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::{Check, CheckScope, Subject};

/// A named user that gets messages or tags and has no channel.
pub(crate) const WITHOUT_CHANNELS: Check = Check { codes: &[&codes::TG108], run: CheckScope::All(without_channels) };

fn without_channels(subject: &Subject, findings: &mut Findings) {
    let resources = &subject.desired.resources;
    let users = resources.values().filter_map(|declared| of_kind::<NamedUser>(&*declared.spec));
    let empty = users.filter(|user| user.channels.is_empty());
    let empty: HashMap<&str, Span> =
        empty.filter_map(|user| Some((user.named_user_id.as_ref()?.as_str(), user.channels.span))).collect();
    if empty.is_empty() {
        return;
    }
    for (address, declared) in resources {
        let mut look = |id: &At<String>| {
            let Some(channels) = empty.get(id.as_str()) else { return };
            let message = format!("the named user `{}` has no channels", text::short(id, 40));
            let mut finding = Finding::new(&codes::TG108, id.span, message)
                .label("no device gets this")
                .related(*channels, "no channels")
                .note("the service accepts this silently")
                .help("add its channels; if the app associates them, remove it from `named_users`");
            finding.address = Some(address.clone());
            findings.push(finding);
        };
        let members = of_kind::<TagGroup>(&*declared.spec).and_then(|group| group.members.as_ref());
        members.iter().flat_map(|members| members.named_users.keys()).for_each(&mut look);
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        for audience in &parts.audiences {
            audience.selector.walk(&mut |selector| {
                if let Selector::NamedUser(id) = &selector.value {
                    look(id);
                }
            });
        }
    }
}
