//! `{{KEY}}` and the variables of a template: each needs the other.

use std::collections::{HashMap, HashSet};

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings, places};
use pushplan_model::kinds::{Template, Variable, of_kind};
use pushplan_model::node::{At, Rest};
use pushplan_model::nouns::placeholder::{placeholders, unclosed};
use pushplan_model::text;
use serde_json::Value;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::{fillable, own};

pub const DECLARED: Check = Check { codes: &[&codes::MS101], run: CheckScope::Each(declared) };
pub const USED: Check = Check { codes: &[&codes::MS102], run: CheckScope::Each(used) };
pub const KEYS: Check = Check { codes: &[&codes::MS112], run: CheckScope::Each(keys) };
pub const TWICE: Check = Check { codes: &[&codes::MS115], run: CheckScope::Each(twice) };

/// The beginning of a placeholder.
const OPENING: &str = "{{";
/// The longest key of a variable that the service accepts.
const KEY_LIMIT: usize = 32;

fn declared(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let known = said.variables.unwrap_or(&[]).iter().map(|variable| variable.key.as_str()).collect();
        for text in fillable(&said) {
            undeclared(text, said.variables, &known, findings);
            open_ended(text, said.variables.is_some(), findings);
        }
        // Fields outside the contract have no positions, so the position of their key is used.
        let rests =
            said.notification.iter().flat_map(|shown| shown.free()).chain(said.message.iter().map(|text| &text.rest));
        for (key, text) in rests.flat_map(Rest::texts).filter(|(_, text)| text.contains("{{")) {
            let text = At::new(text.to_owned(), key.span);
            undeclared(&text, said.variables, &known, findings);
            open_ended(&text, said.variables.is_some(), findings);
        }
    }
    let defaults = variables(one).iter().filter_map(|variable| variable.default_value.as_ref());
    defaults.for_each(|value| within_value(value, findings));
    for push in one.parts.pushes.iter().filter(|push| push.template.is_some()) {
        push.substitutions.values().for_each(|value| within_value(value, findings));
    }
}

/// Braces in a value, which are not filled in.
fn within_value(value: &At<String>, findings: &mut Findings) {
    for (placeholder, nth) in counted(value, placeholders(value), |placeholder| placeholder.range.start) {
        let written = &value[placeholder.range];
        let finding = Finding::new(
            &codes::MS101,
            value.span,
            format!("`{}` in a value is not filled in", text::short(written, 40)),
        );
        let finding = finding
            .label("recipients see the braces")
            .note("a value is inserted as it is")
            .help("write the words, or use the placeholder in the template's text");
        findings.push(finding.within_signs(OPENING, written, nth));
    }
    open_ended(value, false, findings);
}

/// Every placeholder of a text without a variable, each at its own position.
fn undeclared(text: &At<String>, variables: Option<&[Variable]>, known: &HashSet<&str>, findings: &mut Findings) {
    let unknown_ones = placeholders(text).filter(|placeholder| !known.contains(placeholder.key));
    for (placeholder, nth) in counted(text, unknown_ones, |placeholder| placeholder.range.start) {
        let written = &text[placeholder.range];
        findings.push(unknown(text, written, placeholder.key, variables).within_signs(OPENING, written, nth));
    }
}

/// Braces that open a placeholder without closing it.
fn open_ended(text: &At<String>, template: bool, findings: &mut Findings) {
    for (_, nth) in counted(text, unclosed(text), |range| range.start) {
        let finding = Finding::new(&codes::MS101, text.span, "`{{` is not closed")
            .label("no `}}` follows")
            .note("an unclosed placeholder is not filled in, so recipients see the braces");
        let help = if template { "write {{KEY}}, with two braces on each side" } else { "write the words" };
        findings.push(finding.help(help).within(OPENING, nth));
    }
}

/// The items of a text, each with the number of openings before it. Both are in the order of the text.
fn counted<T>(
    text: &str,
    all: impl IntoIterator<Item = T>,
    begin: impl Fn(&T) -> usize,
) -> impl Iterator<Item = (T, usize)> {
    let mut openings = places(text, OPENING).enumerate();
    all.into_iter().filter_map(move |one| {
        let (nth, _) = openings.by_ref().find(|(_, at)| *at >= begin(&one))?;
        Some((one, nth))
    })
}

fn unknown(text: &At<String>, written: &str, key: &str, variables: Option<&[Variable]>) -> Finding {
    let shown = text::short(written, 40);
    let Some(variables) = variables else {
        return Finding::new(&codes::MS101, text.span, format!("`{shown}` is not filled in: this is not a template"))
            .label("recipients see the braces")
            .note("only templates have variables")
            .help("write the words, or move the text to `templates:` and use `template:`");
    };
    let finding = Finding::new(&codes::MS101, text.span, format!("the template has no variable for `{shown}`"))
        .label("not declared")
        .note("an undeclared placeholder is not filled in, so recipients see the braces");
    match text::nearest_of_few(key, variables.iter().map(|variable| variable.key.as_str())) {
        Some(near) => {
            let meant = format!("{{{{{near}}}}}");
            finding.help(format!("did you mean `{meant}`?")).suggest(text.span, meant)
        }
        None if is_key(key) => finding.help(format!("add {{key: {key}}} to the `variables` of the template")),
        None => finding,
    }
}

fn used(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let variables = variables(one);
    if variables.is_empty() {
        return;
    }
    // The whole content is searched, including fields outside the contract.
    let mut keys = HashSet::new();
    if let Some(template) = of_kind::<Template>(&*one.declared.spec) {
        let content = serde_json::to_value(&template.push).unwrap_or_default();
        placeholder_keys(&content, &mut keys);
    }
    // What cannot be a key has a finding of its own.
    let unused = |key: &&At<String>| is_key(key) && !keys.contains(key.as_str());
    for key in variables.iter().map(|variable| &variable.key).filter(unused) {
        findings.push(
            Finding::new(&codes::MS102, key.span, format!("the variable `{key}` is never used"))
                .label("no text uses it")
                .help(format!("write {{{{{key}}}}} in a text, or remove the variable")),
        );
    }
}

fn placeholder_keys(value: &Value, keys: &mut HashSet<String>) {
    match value {
        Value::String(text) => keys.extend(placeholders(text).map(|placeholder| placeholder.key.to_owned())),
        Value::Array(items) => items.iter().for_each(|item| placeholder_keys(item, keys)),
        Value::Object(fields) => fields.values().for_each(|field| placeholder_keys(field, keys)),
        _ => {}
    }
}

fn keys(_: &Subject, one: &Dissected, findings: &mut Findings) {
    for key in variables(one).iter().map(|variable| &variable.key).filter(|key| !is_key(key)) {
        let shown = text::short(key, 40);
        let finding = Finding::new(&codes::MS112, key.span, format!("`{shown}` cannot be the key of a variable"))
            .label(format!("1 to {KEY_LIMIT} of A-Z, a-z, 0-9 and _"))
            .note("the service refuses the template");
        findings.push(match to_key(key) {
            Some(near) => finding.help(format!("write `{near}`, here and between the braces")),
            None => finding,
        });
    }
}

fn is_key(key: &str) -> bool {
    (1..=KEY_LIMIT).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The nearest key that the service accepts, if there is one: other characters become `_`.
fn to_key(text: &str) -> Option<String> {
    let near: String = text.trim().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    (is_key(&near) && near.contains(|c: char| c != '_')).then_some(near)
}

fn twice(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let mut first: HashMap<&str, &At<String>> = HashMap::new();
    for key in variables(one).iter().map(|variable| &variable.key) {
        if let Some(first) = first.get(key.as_str()) {
            findings.push(
                Finding::new(&codes::MS115, key.span, format!("the variable `{key}` is declared twice"))
                    .label("the second")
                    .related(first.span, "the first")
                    .note("it is undefined which default is used")
                    .help("remove one of them"),
            );
        } else {
            first.insert(key, key);
        }
    }
}

/// The variables that a resource declares.
fn variables<'d>(one: &Dissected<'d>) -> &'d [Variable] {
    one.parts.said.iter().find_map(|said| said.variables).unwrap_or(&[])
}
