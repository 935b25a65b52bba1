//! The device of a case, in the form of the service's control API.

use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::{OpenChannel, TagGroup};
use pushplan_model::node::{At, Reader, missing};
use pushplan_model::nouns::vocabulary;
use pushplan_model::text;
use serde_json::{Map, Value, json};

use super::language::{self, WrittenDevice};
use super::{Against, Tags};

/// The form of a device at the start of a case.
pub fn whole(device: &At<WrittenDevice>, against: &Against, reader: &mut Reader) -> Option<Value> {
    let Some(kind) = &device.device_type else {
        let finding = Finding::new(&codes::YM203, device.span, missing("device_type")).label("needs `device_type`");
        reader.report(finding.help("add `device_type`: ios, android, amazon, web or open::<platform>"));
        return None;
    };
    let mut form = fields(device, against, reader)?;
    form.insert("device_type".to_owned(), json!(kind));
    Some(Value::Object(form))
}

/// The form of a change to a device.
pub fn change(device: &At<WrittenDevice>, against: &Against, reader: &mut Reader) -> Option<Value> {
    let fixed = [
        ("device_type", device.device_type.as_ref().map(|kind| kind.span)),
        ("channel", device.channel.as_ref().map(|id| id.span)),
        ("opened", device.opened.as_ref().map(|opened| opened.span)),
    ];
    let given: Vec<_> = fixed.into_iter().filter_map(|(name, span)| Some((name, span?))).collect();
    for (name, span) in &given {
        let finding = Finding::new(&codes::YM206, *span, format!("`{name}` of a device cannot change"));
        reader.report(finding.label("for good").help("write another case for another device"));
    }
    let form = fields(device, against, reader);
    form.filter(|_| given.is_empty()).map(Value::Object)
}

fn fields(device: &WrittenDevice, against: &Against, reader: &mut Reader) -> Option<Map<String, Value>> {
    let before = reader.findings.len();
    let mut form = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            form.insert(name.to_owned(), value);
        }
    };
    put("opt_in", json!(device.opt_in));
    put("background", json!(device.background));
    put("location", json!(device.location));
    put("address", json!(device.open_channel));
    put("lists", json!(device.static_lists));
    put("subscriptions", json!(device.subscription_lists));
    put("attributes", json!(device.attributes));
    put("named_user", json!(device.named_user));
    if let Some(name) = device.named_user.as_ref().filter(|name| !is_user(name)) {
        let finding = Finding::new(&codes::TG105, name.span, format!("`{name}` is not a valid id of a named user"));
        reader.report(finding.label("1 to 128 characters, without white space at the ends"));
    }
    if let Some(finding) = device.open_channel.as_ref().and_then(|address| misspelt_address(address, against)) {
        reader.report(finding);
    }
    if let Some(id) = device.channel.as_ref().filter(|id| !is_channel(id)) {
        let finding =
            Finding::new(&codes::YM206, id.span, format!("`{}` is not a valid channel id", text::short(id, 40)));
        reader.report(finding.label("1 to 128 characters, none of them white space, `/`, `?`, `#` or `%`"));
    }
    if let Some(tags) = &device.tags {
        put("tags", json!(self::tags(tags, against, reader).unwrap_or_default()));
    }
    let WrittenDevice { country, language, timezone, app_version, sdk_version, os_version, model, .. } = device;
    if let Some(code) = country.as_ref().filter(|code| vocabulary::country(code).is_none()) {
        let finding = Finding::new(&codes::AU107, code.span, format!("`{code}` is not a country code"));
        reader.report(near(finding.label("expected ISO 3166-1, such as US"), code, vocabulary::COUNTRIES));
    }
    if let Some(code) = language.as_ref().filter(|code| vocabulary::language(code).is_none()) {
        let finding = Finding::new(&codes::AU106, code.span, format!("`{code}` is not a language code"));
        reader.report(near(finding.label("expected ISO 639-1, such as en"), code, vocabulary::LANGUAGES));
    }
    let properties = json!({
        "country": country, "language": language, "timezone": timezone, "app_version": app_version,
        "sdk_version": sdk_version, "os_version": os_version, "model": model,
    });
    let Value::Object(mut properties) = properties else { return None };
    properties.retain(|_, value| !value.is_null());
    put("properties", Value::Object(properties));
    (reader.findings.len() == before).then_some(form)
}

/// Adds the probable code: with other capitalization, or with this name.
fn near(finding: Finding, code: &At<String>, all: &[(&str, &str)]) -> Finding {
    let meant = all.iter().find(|(known, name)| known.eq_ignore_ascii_case(code) || name.eq_ignore_ascii_case(code));
    match meant {
        Some((known, _)) => finding.help(format!("write `{known}`")).suggest(code.span, *known),
        None => finding,
    }
}

fn is_user(name: &str) -> bool {
    (1..=128).contains(&name.chars().count()) && name.trim() == name
}

fn is_channel(id: &str) -> bool {
    (1..=128).contains(&id.chars().count())
        && !id.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '/' | '?' | '#' | '%'))
}

/// Tags by group. A tag that its group does not allow is an error here as in a manifest.
pub fn tags(tags: &language::Tags, against: &Against, reader: &mut Reader) -> Option<Tags> {
    let before = reader.findings.len();
    let mut read = Tags::new();
    for (group, tags) in &tags.0 {
        if let Some(group) = group.as_ref().filter(|group| is_derived(group)) {
            let message = format!("the tags of `{group}` are derived from the device's properties");
            let finding = Finding::new(&codes::YM206, group.span, message).label("cannot be set");
            reader.report(finding.help("set `country`, `language`, `opt_in` and other properties instead"));
            continue;
        }
        if let Some(finding) = group.as_ref().and_then(|group| misspelt(group, against)) {
            reader.report(finding);
            continue;
        }
        for tag in tags {
            if !(1..=128).contains(&tag.chars().count()) {
                let finding = Finding::new(&codes::TG103, tag.span, "a tag has 1 to 128 characters");
                reader.report(finding.label(format!("{} characters", tag.chars().count())));
            }
            if let Some(finding) = group.as_ref().and_then(|group| not_listed(tag, group, against)) {
                reader.report(finding);
            }
        }
        let name = group.as_ref().map_or(String::new(), |group| group.value.clone());
        read.entry(name).or_default().extend(tags.iter().map(|tag| tag.value.clone()));
    }
    (reader.findings.len() == before).then_some(read)
}

fn is_derived(group: &str) -> bool {
    group.starts_with("ua_") || vocabulary::group(group).is_some()
}

/// A group that is not declared, beside one that has nearly its name. No audience of the manifests can name it.
fn misspelt(group: &At<String>, against: &Against) -> Option<Finding> {
    if !against.desired.complete || against.desired.knows::<TagGroup>(group) {
        return None;
    }
    let near = text::nearest(group, against.desired.keys::<TagGroup>())?;
    let message = format!("no tag group has the name `{}`", text::short(group, 40));
    let finding = Finding::new(&codes::RF103, group.span, message).label("not declared");
    Some(finding.help(format!("did you mean `{near}`?")).suggest(group.span, near))
}

/// An address that no open channel declares, next to a declared one that is nearly the same. Addresses that differ only
/// in their digits are different channels.
fn misspelt_address(address: &At<String>, against: &Against) -> Option<Finding> {
    let declared: Vec<&str> = against
        .desired
        .all::<OpenChannel>()
        .filter_map(|(_, _, one)| one.address.as_ref())
        .map(|it| it.as_str())
        .collect();
    if !against.desired.complete || declared.contains(&address.as_str()) {
        return None;
    }
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let near = text::nearest(address, declared).filter(|near| letters(near) != letters(address))?;
    let message = format!("no open channel has the address `{}`", text::short(address, 40));
    let finding = Finding::new(&codes::YM206, address.span, message).label("not declared");
    let finding = finding.note("the device would get no message that is sent to the declared open channel");
    Some(finding.help(format!("did you mean `{near}`?")).suggest(address.span, near))
}

fn not_listed(tag: &At<String>, group: &str, against: &Against) -> Option<Finding> {
    let listed = against.desired.get::<TagGroup>(group)?.tags.as_ref()?;
    if listed.iter().any(|known| known == tag) {
        return None;
    }
    let message = format!("the tag `{tag}` is not in the vocabulary of `{group}`");
    let finding = Finding::new(&codes::TG101, tag.span, message).label("not listed");
    let names: Vec<&str> = listed.iter().map(|known| known.as_str()).collect();
    Some(match text::nearest(tag, names.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(tag.span, near),
        None if names.is_empty() => finding,
        None => finding.help(format!("expected {}", text::any_of(&names))),
    })
}
