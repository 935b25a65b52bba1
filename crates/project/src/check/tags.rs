//! Tags, tag groups and their members: vocabularies, names, limits.

use std::collections::HashMap;

use pushplan_model::codes::{self, Code};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{NamedUser, OpenChannel, Parts, Pipeline, ReadableText, TagGroup, Trigger, of_kind};
use pushplan_model::node::{At, yaml_text};
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::tagged::DEVICE;
use pushplan_model::nouns::vocabulary::{self, Group, is_reserved};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::{Check, CheckScope, Dissected, Subject};
use crate::manifest::Declared;

/// The longest tag and the longest named user id, in characters.
const LONGEST: usize = 128;
/// The maximal number of tags of one group that a request may assign to one member.
const MOST_GROUP_TAGS: usize = 100;
/// The maximal number of channels of a named user.
const MOST_CHANNELS: usize = 100;
/// The maximal number of tags of a channel.
const MOST_CHANNEL_TAGS: usize = 1_000;
/// The number of findings for which a similar tag is searched. Each search compares a whole vocabulary.
const SUGGESTIONS: usize = 50;
/// The number of tags of a vocabulary in a message.
const LISTED: usize = 8;

/// Every tag in selectors, triggers and memberships, with its group. Tags of actions have no group and are not
/// included.
fn grouped<'d>(
    declared: &'d Declared,
    parts: &Parts<'d>,
    visit: &mut dyn FnMut(&'d At<String>, Option<&'d At<String>>),
) {
    for audience in &parts.audiences {
        audience.selector.walk(&mut |selector| {
            if let Selector::Tag(Tag { tag, group }) = &selector.value {
                visit(tag, group.as_ref());
            }
        });
    }
    for used in &parts.tags {
        visit(used.tag, used.group);
    }
    for trigger in of_kind::<Pipeline>(&*declared.spec).iter().flat_map(|pipeline| &pipeline.immediate_trigger) {
        if let Trigger::TagAdded { tag, group } = &trigger.value {
            visit(tag, group.as_ref());
        }
    }
}

/// A tag that its group does not declare: a typo that matches nobody.
pub(crate) const VOCABULARY: Check = Check { codes: &[&codes::TG101], run: CheckScope::All(vocabulary_check) };

/// The tags that a group declares.
struct Words<'d> {
    place: Span,
    tags: HashMap<&'d str, Span>,
}

impl Words<'_> {
    /// The tags, in the order in which they were written.
    fn in_order(&self) -> Vec<&str> {
        let mut tags: Vec<(&Span, &str)> = self.tags.iter().map(|(tag, place)| (place, *tag)).collect();
        tags.sort_unstable();
        tags.into_iter().map(|(_, tag)| tag).collect()
    }
}

fn vocabulary_check(subject: &Subject, findings: &mut Findings) {
    let groups: HashMap<&str, Words> = subject
        .desired
        .all::<TagGroup>()
        .filter(|(address, ..)| !is_reserved(&address.key))
        .filter_map(|(address, declared, group)| {
            let tags = group.tags.as_ref()?.iter().map(|tag| (tag.as_str(), tag.span));
            Some((address.key.as_str(), Words { place: declared.key.span, tags: tags.collect() }))
        })
        .collect();
    if groups.is_empty() {
        return;
    }
    let mut suggestions = SUGGESTIONS;
    let readable = subject.desired.readable.iter().map(|(address, declared, _)| (address, declared));
    for (address, declared) in subject.desired.resources.iter().chain(readable) {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        grouped(declared, &parts, &mut |tag, group| {
            let Some((group, words)) = group.and_then(|group| groups.get_key_value(group.as_str())) else { return };
            if words.tags.contains_key(tag.as_str()) {
                return;
            }
            let mut finding = outside(tag, group, words, &mut suggestions);
            finding.address = Some(address.clone());
            findings.push(finding);
        });
    }
}

fn outside(tag: &At<String>, group: &str, words: &Words, suggestions: &mut usize) -> Finding {
    let finding = Finding::new(
        &codes::TG101,
        tag.span,
        format!("`{}` is not in the vocabulary of the tag group `{group}`", text::short(tag, 40)),
    )
    .label("not one of its tags")
    .related(words.place, "the group and its `tags`")
    .note("the service silently accepts any tag; a tag that no device has reaches nobody");
    let add = format!("add it to `tags` of tag_groups/{group}");
    if *suggestions == 0 {
        return finding.help(add);
    }
    *suggestions -= 1;
    let known = words.in_order();
    if let Some(near) = text::nearest(tag, known.iter().copied()) {
        return finding.help(format!("did you mean `{near}`? If not, {add}")).suggest(tag.span, yaml_text(near));
    }
    if known.is_empty() || known.len() > LISTED {
        return finding.help(add);
    }
    let known: Vec<String> = known.iter().map(|tag| format!("`{tag}`")).collect();
    finding.help(format!("write {}, or {add}", text::any_of(&known)))
}

/// A declared group of the service's own, which only the service can fill.
pub(crate) const RESERVED_GROUP: Check = Check { codes: &[&codes::TG102], run: CheckScope::Each(reserved_group) };

fn reserved_group(_: &Subject, one: &Dissected, findings: &mut Findings) {
    if of_kind::<TagGroup>(&*one.declared.spec).is_none() || !is_reserved(&one.address.key) {
        return;
    }
    let key = &one.declared.key;
    let message = match vocabulary::group(key) {
        None if key.as_str() == DEVICE => {
            let message = "`device` cannot be a tag group: it means the tags of a device that are in no group";
            let finding = Finding::new(&codes::TG102, key.span, message).label("cannot be declared");
            findings.push(finding.help("choose another name"));
            return;
        }
        Some(group) => format!("`{key}` is the service's own tag group for {}", group.name),
        None => format!("`{key}` cannot be a tag group: names that begin with `ua_` belong to the service"),
    };
    let finding = Finding::new(&codes::TG102, key.span, message)
        .label("cannot be declared")
        .note("the service fills its own groups with data from devices");
    findings.push(match (vocabulary::group(key), key.trim_start_matches("ua_")) {
        (Some(group), _) => finding.help(format!("remove it; in an audience write `{}: ...`", group.shorthand)),
        (None, "") => finding.help("choose another name"),
        (None, rest) => finding.help(format!("choose another name, such as `{rest}`")),
    });
}

/// A tag that is empty or too long is refused by the service.
pub(crate) const TAG_LENGTH: Check = Check { codes: &[&codes::TG103], run: CheckScope::Each(tag_length) };

fn tag_length(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let mut look = |tag: &At<String>| {
        let Some(count) = wrong_length(tag) else { return };
        let finding = match count {
            0 => Finding::new(&codes::TG103, tag.span, "a tag cannot be empty").label("no characters"),
            _ => Finding::new(&codes::TG103, tag.span, format!("a tag of {count} characters is longer than {LONGEST}"))
                .label("too long"),
        };
        findings.push(finding.help(format!("a tag has 1 to {LONGEST} characters")));
    };
    // Values of the service's own groups are checked separately, unless they are empty.
    let mut empty = Vec::new();
    grouped(one.declared, &one.parts, &mut |tag, group| match group.and_then(|id| vocabulary::group(id)) {
        Some(group) => empty.extend(tag.is_empty().then(|| no_value(group, tag))),
        None if group.is_some_and(|group| is_reserved(group)) && !tag.is_empty() => {}
        None => look(tag),
    });
    let said = one.parts.properties.iter().filter(|(_, value)| value.is_empty());
    empty.extend(said.map(|(group, value)| no_value(group, value)));
    for notification in one.parts.said.iter().filter(|said| !said.borrowed).flat_map(ReadableText::notifications) {
        for actions in notification.all_actions() {
            actions.add_tag.iter().chain(&actions.remove_tag).flatten().for_each(&mut look);
        }
    }
    if let Some(group) = of_kind::<TagGroup>(&*one.declared.spec) {
        group.tags.iter().flatten().for_each(&mut look);
    }
    findings.extend(empty);
}

/// The finding for an empty value of one of the service's own groups.
fn no_value(group: &Group, value: &At<String>) -> Finding {
    let finding = Finding::new(&codes::TG103, value.span, format!("the value of `{}` is empty", group.shorthand))
        .label("no characters")
        .note("no device has a tag without characters");
    finding.help(match group.sentinel() {
        Some(unknown) => format!("write the {}; devices without a value have `{unknown}`", group.noun),
        None => "write \"true\" or \"false\"".to_owned(),
    })
}

/// The number of characters, if there are none or too many.
fn wrong_length(text: &str) -> Option<usize> {
    // A text has at most as many characters as bytes, so most texts need no counting.
    if !text.is_empty() && text.len() <= LONGEST {
        return None;
    }
    let count = text.chars().count();
    (count == 0 || count > LONGEST).then_some(count)
}

/// More tags than a request can assign.
pub(crate) const MEMBER_TAGS: Check = Check { codes: &[&codes::TG104], run: CheckScope::Each(member_tags) };

fn member_tags(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let members = of_kind::<TagGroup>(&*one.declared.spec).and_then(|group| group.members.as_ref());
    for (member, tags) in members.iter().flat_map(|members| members.all()) {
        let message = |count| format!("{count} tags of the group `{}` for `{member}`", one.address.key);
        let finding = too_many(&codes::TG104, tags.iter().map(|tag| tag.span), MOST_GROUP_TAGS, message);
        findings.extend(finding.map(|finding| {
            finding
                .related(member.span, "this member")
                .note("the service accepts up to 100 tags of one group in one request")
                .help("remove tags, or split the group")
        }));
    }
}

/// An id that the service refuses.
pub(crate) const USER_ID: Check = Check { codes: &[&codes::TG105], run: CheckScope::Each(user_id) };

fn user_id(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let mut look = |id: &At<String>| findings.extend(wrong_id(id));
    let spec = &*one.declared.spec;
    of_kind::<NamedUser>(spec).iter().filter_map(|user| user.named_user_id.as_ref()).for_each(&mut look);
    let members = of_kind::<TagGroup>(spec).and_then(|group| group.members.as_ref());
    members.iter().flat_map(|members| members.named_users.keys()).for_each(&mut look);
    for audience in &one.parts.audiences {
        audience.selector.walk(&mut |selector| {
            if let Selector::NamedUser(id) = &selector.value {
                look(id);
            }
        });
    }
}

fn wrong_id(id: &At<String>) -> Option<Finding> {
    let help = format!("an id has 1 to {LONGEST} characters and no white space at its ends");
    let trimmed = id.trim();
    if trimmed.is_empty() {
        let finding = Finding::new(&codes::TG105, id.span, "the id of a named user cannot be empty");
        return Some(finding.label("no characters").help(help));
    }
    if trimmed.len() < id.len() {
        let finding = Finding::new(&codes::TG105, id.span, "white space at the end of a named user's id")
            .label("begins or ends with white space")
            .note("the service refuses such an id");
        return Some(finding.help(format!("write {}", text::quoted(trimmed))).suggest(id.span, text::quoted(trimmed)));
    }
    let count = wrong_length(id)?;
    let message = format!("a named user's id of {count} characters is longer than {LONGEST}");
    Some(Finding::new(&codes::TG105, id.span, message).label("too long").help(help))
}

/// More channels than a named user can have.
pub(crate) const USER_CHANNELS: Check = Check { codes: &[&codes::TG106], run: CheckScope::Each(user_channels) };

fn user_channels(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(user) = of_kind::<NamedUser>(&*one.declared.spec) else { return };
    let places = user.channels.iter().map(|channel| channel.channel_id.span);
    let finding = too_many(&codes::TG106, places, MOST_CHANNELS, |count| format!("a named user with {count} channels"));
    findings.extend(finding.map(|finding| {
        finding
            .note("the service accepts up to 100 channels for one named user")
            .help("remove unused channels; for a group of people, use a tag")
    }));
}

/// More tags than a channel can have.
pub(crate) const CHANNEL_TAGS: Check = Check { codes: &[&codes::TG107], run: CheckScope::Each(channel_tags) };

fn channel_tags(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(channel) = of_kind::<OpenChannel>(&*one.declared.spec) else { return };
    let places = channel.tags.iter().flatten().map(|tag| tag.span);
    let finding =
        too_many(&codes::TG107, places, MOST_CHANNEL_TAGS, |count| format!("an open channel with {count} tags"));
    findings.extend(finding.map(|finding| {
        finding.note("the service accepts up to 1,000 tags for one channel").help("remove tags that no audience uses")
    }));
}

/// A finding at the first position beyond a limit.
fn too_many(
    code: &'static Code,
    places: impl Iterator<Item = Span>,
    most: usize,
    message: impl FnOnce(usize) -> String,
) -> Option<Finding> {
    let mut places: Vec<Span> = places.collect();
    if places.len() <= most {
        return None;
    }
    // Some lists are sorted when they are read; the author counts in the order of the file.
    places.sort_unstable();
    Some(Finding::new(code, places[most], message(places.len())).label(format!("number {}", most + 1)))
}
