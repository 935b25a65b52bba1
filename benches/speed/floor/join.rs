//! Declared and listed things, joined by name and compared.

use std::collections::{HashMap, HashSet};

use super::lists::Lists;
use super::typed::{Audience, Push};
use super::{Declared, Keyed};

pub struct Compared {
    pub resources: usize,
    pub differences: usize,
}

/// How many things of a kind are not listed, or listed with another content.
fn differing<D, L: PartialEq>(
    declared: Keyed<D>,
    listed: &[L],
    name: fn(&L) -> &str,
    as_listed: impl Fn(String, D) -> L,
) -> usize {
    let known: HashMap<&str, &L> = listed.iter().map(|listed| (name(listed), listed)).collect();
    let differs = |(key, declared)| {
        let declared = as_listed(key, declared);
        known.get(name(&declared)).is_none_or(|listed| **listed != declared)
    };
    declared.into_iter().map(differs).filter(|differs| *differs).count()
}

fn named(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or_default()
}

fn sorted(mut tags: Vec<String>) -> Vec<String> {
    tags.sort_unstable();
    tags
}

pub fn compare(declared: Declared, lists: Lists) -> Compared {
    let Declared {
        tag_groups,
        segments,
        templates,
        pipelines,
        scheduled_pushes,
        experiments,
        named_users,
        open_channels,
        tags,
    } = declared;
    let counts = [segments.len(), templates.len(), pipelines.len(), scheduled_pushes.len(), experiments.len()];
    let people = [tag_groups.len(), named_users.len(), open_channels.len(), tags.len()];
    let resources = counts.into_iter().chain(people).sum();
    let mut differences = 0;

    let ids: HashMap<&str, &str> = lists.segments.iter().map(|it| (it.display_name.as_str(), it.id.as_str())).collect();
    differences += segments.values().filter(|segment| !ids.contains_key(segment.display_name.as_str())).count();
    // Others name segments by their keys, the service by ids.
    let point = |push: &mut Push| {
        if let Some(Audience::Conditions(conditions)) = &mut push.audience
            && let Some(key) = &mut conditions.segment
        {
            let id = segments.get(key).and_then(|segment| ids.get(segment.display_name.as_str()));
            *key = id.map_or_else(String::new, |id| (*id).to_owned());
        }
    };
    differences += differing(
        templates,
        &lists.templates,
        |it| named(&it.name),
        |key, mut it| {
            it.name.get_or_insert(key);
            it
        },
    );
    differences += differing(
        pipelines,
        &lists.pipelines,
        |it| named(&it.name),
        |key, mut it| {
            it.name.get_or_insert(key);
            it
        },
    );
    differences += differing(
        scheduled_pushes,
        &lists.schedules,
        |it| &it.name,
        |_, mut it| {
            point(&mut it.push);
            it
        },
    );
    differences += differing(
        experiments,
        &lists.experiments,
        |it| named(&it.name),
        |key, mut it| {
            it.name.get_or_insert(key);
            it
        },
    );

    let users: HashMap<&str, _> = lists.named_users.iter().map(|it| (it.named_user_id.as_str(), it)).collect();
    for (key, user) in named_users {
        let there = users.get(key.as_str()).is_some_and(|it| it.channels == user.channels);
        differences += usize::from(!there);
    }
    for (group, declared) in tag_groups {
        for (id, tags) in declared.members.named_users {
            let listed = users.get(id.as_str()).and_then(|user| user.tags.get(&group));
            differences += usize::from(listed.is_none_or(|listed| sorted(listed.clone()) != sorted(tags)));
        }
    }
    let open = lists.channels.into_iter().filter_map(|it| Some((it.address?, (it.opt_in, sorted(it.tags), it.open?))));
    let open: HashMap<String, _> = open.collect();
    for channel in open_channels.into_values() {
        let declared = (channel.opt_in, sorted(channel.tags), channel.open);
        differences += usize::from(open.get(&channel.address) != Some(&declared));
    }
    // The service lists a hundred tags: of the others nothing is known.
    let listed: HashSet<&str> = lists.tags.iter().map(String::as_str).collect();
    let missing = tags.values().filter(|tag| !listed.contains(tag.tag.as_str())).count();
    differences += if listed.len() < 100 { missing } else { 0 };
    Compared { resources, differences }
}
