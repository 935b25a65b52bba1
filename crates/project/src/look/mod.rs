//! How a message looks on a device: the visible part, its buttons, and the effect of a tap. All output forms show the
//! same facts.

mod clusters;
mod direction;
pub mod hosts;
pub mod page;
mod screen;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

pub use clusters::{characters, clusters, cut, width, wrap};
pub use direction::is_rtl;
pub use screen::{DeviceTexts, Fit, HeadLine, Screen, fits, screens};

use pushplan_model::kinds::{Parts, ReadableText, Sample, Template, Variable};
use pushplan_model::node::At;
use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::nouns::localization::Localization;
use pushplan_model::nouns::many::Set;
use pushplan_model::nouns::message::Message;
use pushplan_model::nouns::notification::{
    Actions, Effective, INTERACTIVE_TYPES, Interactive, LANDING_PAGE, Notification,
};
use pushplan_model::nouns::overrides::Override;
use pushplan_model::nouns::placeholder::{self, placeholders};
use pushplan_model::text;

use crate::look::page::Page;
use crate::manifest::Desired;

/// A message as recipients see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    /// Its label among several: `variant 1`, or the name of the sample with its values.
    pub label: Option<String>,
    /// The title in a browser.
    pub title: Option<String>,
    /// The text, with its variables filled in.
    pub text: String,
    /// The number of characters of the text as readers count them.
    pub characters: usize,
    /// The visible part of the message on each screen of its device types.
    pub fits: Vec<Fit>,
    /// The labels of its buttons.
    pub buttons: Vec<String>,
    /// The effects of its buttons, a sentence each.
    pub presses: Vec<String>,
    /// The effect of a tap; `None` if it only opens the app.
    pub tap: Option<String>,
    /// The effect of a tap on device types with their own actions: `on ios: opens shop://sale`.
    pub platform_taps: Vec<String>,
    /// Whether the text is read from right to left.
    pub rtl: bool,
    /// The Message Center message that comes with it.
    pub message: Option<Center>,
    /// The placeholders without a value: recipients see their braces.
    pub unfilled: Vec<String>,
}

/// A Message Center message as recipients read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Center {
    pub title: String,
    /// The body as text, also where it is HTML.
    pub text: String,
}

/// Values for variables, by their keys.
pub type Values = BTreeMap<String, String>;

/// The values in a manifest.
pub fn values(given: &Sample) -> Values {
    given.iter().map(|(key, value)| (key.value.clone(), value.value.clone())).collect()
}

/// A text with the defaults of its variables, as without other values from a push.
pub(crate) fn with_defaults(text: &str, variables: Option<&[Variable]>) -> String {
    filled(text, variables, &Values::new())
}

/// The size up to which texts are filled in, because the service accepts no larger message. Further placeholders are
/// kept.
const LIMIT: usize = 5 * 1024 * 1024;

/// A text with these values, and with defaults for the others. Only variables are filled in.
pub fn filled(text: &str, variables: Option<&[Variable]>, values: &Values) -> String {
    if !text.contains("{{") {
        return text.to_owned();
    }
    let mut known = HashMap::new();
    for Variable { key, default_value, .. } in variables.unwrap_or(&[]) {
        let value = values.get(key.as_str()).or(default_value.as_ref().map(|default| &default.value));
        // If a variable is declared twice, the first one counts.
        known.entry(key.as_str()).or_insert(value.map(String::as_str));
    }
    let left = Cell::new(LIMIT);
    placeholder::fill(text, |key| {
        let value = known.get(key).copied().flatten()?;
        left.set(left.get().checked_sub(value.len())?);
        Some(value)
    })
}

/// A message, and the values for its variables.
#[derive(Clone, Debug)]
pub struct Spoken<'d> {
    pub said: ReadableText<'d>,
    pub values: Values,
}

/// The messages of a resource, with templates already filled in.
pub fn spoken<'d>(parts: &Parts<'d>) -> Vec<Spoken<'d>> {
    parts.said.iter().map(|said| Spoken { said: *said, values: Values::new() }).collect()
}

/// Returns the messages of a resource before templates are filled in: the templates' texts and the values from the pushes.
pub fn as_written<'d>(parts: &Parts<'d>, desired: &'d Desired) -> Vec<Spoken<'d>> {
    let mut pushes = parts.pushes.iter().filter(|push| push.template.is_some());
    let mut written = |one: &Spoken<'d>| -> Option<Spoken<'d>> {
        let push = pushes.next()?;
        let template = desired.get::<Template>(&push.template.as_ref()?.0)?;
        let message = push.message.as_ref().filter(|message| {
            // A message next to the template's name belongs to the push.
            template.push.message.as_ref().is_none_or(|from| from.span != message.span)
        });
        let from = template.push.localizations.first().map(|first| first.span);
        let is_own = push.localizations.first().is_some_and(|first| Some(first.span) != from);
        let localizations = if is_own { &push.localizations } else { &template.push.localizations };
        Some(Spoken {
            said: ReadableText {
                notification: Some(&template.push.notification),
                message: message.or(template.push.message.as_ref()),
                localizations,
                variables: Some(template.variables.as_deref().unwrap_or(&[])),
                ..one.said
            },
            values: values(&push.substitutions),
        })
    };
    let own = spoken(parts).into_iter();
    own.map(|one| if one.said.borrowed { written(&one).unwrap_or(one) } else { one }).collect()
}

/// The label of the common content next to localizations.
const COMMON: &str = "default";

/// The messages of a resource as recipients see them. `part` labels each of several. `sample` has values for the open
/// variables; given values are kept.
pub fn all(spoken: &[Spoken], part: &dyn Fn(usize) -> String, sample: Option<(&str, &Values)>) -> Vec<Appearance> {
    let several = spoken.len() > 1;
    let shown = |(at, Spoken { said, values }): (usize, &Spoken)| {
        let part = several.then(|| part(at));
        let name = sample.map(|(name, _)| name.to_owned());
        let mut values = values.clone();
        for (key, value) in sample.iter().flat_map(|(_, given)| given.iter()) {
            values.entry(key.clone()).or_insert_with(|| value.clone());
        }
        let is_localized = !said.localizations.is_empty();
        let one = |(own, said): (Option<&At<Localization>>, ReadableText)| {
            let locale = own.map(|own| own.locale()).or(is_localized.then(|| COMMON.to_owned()));
            let words = [part.clone(), name.clone(), locale];
            let label = words.into_iter().flatten().reduce(|label, more| format!("{label}, {more}"));
            Appearance { label, ..seen(&said, &values) }
        };
        said.on_devices().map(one).collect::<Vec<_>>()
    };
    spoken.iter().enumerate().flat_map(shown).collect()
}

/// A text with these values, and with defaults for the others: notification and message.
pub fn said_with(said: &ReadableText, values: &Values) -> (Option<Notification>, Option<Message>) {
    let fill = |text: &str| filled(text, said.variables, values);
    let notification = said.notification.map(|notification| {
        let mut notification = notification.value.clone();
        notification.map_texts(&fill);
        notification
    });
    let message = said.message.map(|message| {
        let mut message = message.value.clone();
        message.map_texts(&fill);
        message
    });
    (notification, message)
}

/// The text of a message. If every device type has its own, the text of the first.
pub fn text(said: &ReadableText, values: &Values) -> String {
    let alert = said.notification.and_then(|shown| main_text(shown, said.devices.map(|devices| &devices.value)));
    alert.map(|alert| filled(alert, said.variables, values)).unwrap_or_default()
}

/// The common text of a notification, unless no device type shows it.
fn main_text<'n>(shown: &'n Notification, devices: Option<&DeviceTypes>) -> Option<&'n At<String>> {
    let named = devices.map(DeviceTypes::named).unwrap_or_default();
    let own = |device: &DeviceType| shown.on(device).alert.filter(|alert| !is_same(Some(*alert), shown.alert.as_ref()));
    let is_replaced = !named.is_empty() && named.iter().all(|device| own(&device.value).is_some());
    if is_replaced {
        return own(&named.first()?.value);
    }
    shown.alert.as_ref().or_else(|| shown.overrides().find_map(|(_, shown)| shown.alert))
}

fn is_same<T>(one: Option<&T>, other: Option<&T>) -> bool {
    one.zip(other).is_some_and(|(one, other)| std::ptr::eq(one, other))
}

/// The texts and the buttons of a notification on one device type.
fn on_device(shown: &Notification, device: &DeviceType) -> DeviceTexts {
    let Effective { alert, title, subtitle, summary, interactive, .. } = shown.on(device);
    let heads = [("title", title), ("subtitle", subtitle), ("summary", summary)];
    let own = shown.overrides().find(|(own, _)| own == device).map(|(_, own)| own);
    let web = shown.web.iter().filter(|_| *device == DeviceType::Web).flat_map(|web| web.shown().buttons);
    let buttons = interactive.into_iter().flat_map(labels).map(|(label, _)| label);
    DeviceTexts {
        text: alert.map(|alert| alert.value.clone()).unwrap_or_default(),
        heads: heads.into_iter().filter_map(|(name, text)| Some((name, text?.value.clone()))).collect(),
        buttons: buttons.chain(web.map(|(label, _)| label.value.clone())).collect(),
        expanded: own.map(|own| expanded(&own)).unwrap_or_default(),
    }
}

/// The images and the further texts of an expanded notification.
fn expanded(own: &Override) -> Vec<String> {
    let images = own.pictures.iter().map(|image| image.value.clone());
    images.chain(own.further.iter().map(|text| format!("“{}”", text.value))).collect()
}

/// A message with these values as recipients see it.
pub fn seen(said: &ReadableText, values: &Values) -> Appearance {
    let (notification, message) = said_with(said, values);
    let shown = notification.as_ref();
    let devices = said.devices.map(|devices| &devices.value);
    let text = shown.and_then(|shown| main_text(shown, devices)).map_or(String::new(), |alert| alert.value.clone());
    let on = |device: &DeviceType| shown.map(|shown| on_device(shown, device)).unwrap_or_default();
    let own_ones: Vec<DeviceType> =
        shown.into_iter().flat_map(Notification::overrides).map(|(device, _)| device).collect();
    let interactive = shown.and_then(|shown| shown.interactive.as_ref());
    let own = shown.into_iter().flat_map(Notification::fillable);
    let beside = message.iter().flat_map(|message| [&message.title, &message.body]);
    let mut unfilled = Vec::new();
    for key in own.chain(beside).flat_map(|text| placeholders(text)).map(|placeholder| placeholder.key.to_owned()) {
        if !unfilled.contains(&key) {
            unfilled.push(key);
        }
    }
    let presses = interactive.map(presses).unwrap_or_default();
    Appearance {
        label: None,
        title: shown.and_then(|shown| shown.web.as_ref()?.title.as_ref()).map(|title| title.value.clone()),
        characters: characters(text.trim_end()),
        fits: fits(&on, devices, &own_ones),
        rtl: is_rtl(&text),
        text,
        buttons: interactive.map(|it| labels(it).into_iter().map(|(label, _)| label).collect()).unwrap_or_default(),
        presses: presses
            .into_iter()
            .chain(shown.into_iter().flat_map(|shown| platform_presses(shown, devices)))
            .collect(),
        tap: shown.and_then(|shown| does(shown.actions.as_ref()?)),
        platform_taps: shown.map(|shown| platform_taps(shown, devices)).unwrap_or_default(),
        message: message.map(|message| Center { title: message.title.value.clone(), text: body(&message) }),
        unfilled,
    }
}

/// The overrides of the device types that get the message.
fn reached<'n>(
    shown: &'n Notification,
    devices: Option<&DeviceTypes>,
) -> impl Iterator<Item = (DeviceType, Override<'n>)> {
    shown.overrides().filter(move |(device, _)| devices.is_none_or(|devices| devices.includes(device)))
}

fn platform_taps(shown: &Notification, devices: Option<&DeviceTypes>) -> Vec<String> {
    let own = reached(shown, devices).filter_map(|(device, own)| Some(format!("on {device}: {}", does(own.actions?)?)));
    own.collect()
}

fn platform_presses(shown: &Notification, devices: Option<&DeviceTypes>) -> Vec<String> {
    let of_one = |(device, own): (DeviceType, Override)| {
        let web =
            own.buttons.iter().filter_map(|(label, actions)| Some(format!("“{}” {}", label.value, does((*actions)?)?)));
        let all: Vec<String> = own.interactive.map(presses).unwrap_or_default().into_iter().chain(web).collect();
        all.into_iter().map(move |press| format!("on {device}: {press}"))
    };
    reached(shown, devices).flat_map(of_one).collect()
}

/// The body of a message as recipients read it.
pub(crate) fn body(message: &Message) -> String {
    body_text(&message.body, message.content_type.as_ref().map(|kind| kind.0.as_str()))
}

/// The text of a body with a content type. Without HTML, it is the body itself.
fn body_text(body: &str, content_type: Option<&str>) -> String {
    let kind = content_type.unwrap_or("text/html").split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("text/html") { Page::of(body).text } else { body.trim().to_owned() }
}

/// The buttons of an interactive type, each with its actions. A type always has its own button, even without actions.
fn labels(interactive: &Interactive) -> Vec<(String, Option<&Actions>)> {
    let Interactive { r#type, button_actions } = interactive;
    match INTERACTIVE_TYPES.iter().find(|known| *known.name == **r#type) {
        Some(known) => {
            let actions = button_actions.iter().find(|(button, _)| *known.button == ***button);
            vec![(known.label.to_owned(), actions.map(|(_, actions)| actions))]
        }
        None => button_actions.iter().map(|(button, actions)| (button.value.clone(), Some(actions))).collect(),
    }
}

fn presses(interactive: &Interactive) -> Vec<String> {
    let pressed = labels(interactive).into_iter();
    pressed.filter_map(|(label, actions)| Some(format!("“{label}” {}", does(actions?)?))).collect()
}

/// The effects of actions in words.
fn does(actions: &Actions) -> Option<String> {
    let Actions { add_tag, remove_tag, share, open, app_defined } = actions;
    let tags = |verb: &str, tags: &[String]| match tags {
        [] => None,
        [_] => Some(format!("{verb} the tag {}", text::all_of(tags))),
        _ => Some(format!("{verb} the tags {}", text::all_of(tags))),
    };
    let names = |tags: &Option<Set<At<String>>>| -> Vec<String> {
        tags.iter().flat_map(|tags| tags.iter()).map(|tag| tag.value.clone()).collect()
    };
    let words: Vec<String> = [
        open.as_ref().map(|open| match *open.r#type == LANDING_PAGE {
            true => "opens a landing page".to_owned(),
            false => format!("opens {}", open.content.text().value),
        }),
        tags("adds", &names(add_tag)),
        tags("removes", &names(remove_tag)),
        share.as_ref().map(|share| format!("shares “{}”", share.value)),
        (!app_defined.0.is_empty()).then(|| {
            let keys: Vec<&str> = app_defined.0.keys().map(|key| key.as_str()).collect();
            format!("passes {} to the app", text::all_of(&keys))
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| text::all_of(&words))
}

#[cfg(test)]
mod tests {
    use pushplan_model::kinds::{self, Spec};
    use pushplan_model::node::At;
    use pushplan_model::source::Span;
    use serde_json::{Value, json};

    use super::*;

    /// The messages of a resource of a kind, with these values.
    fn shown(kind: &str, spec: &Value, values: &[(&str, &str)]) -> Vec<Appearance> {
        let spec: Box<dyn Spec> = kinds::kind(kind).expect("a kind").api.read(spec).expect("a resource");
        let key = At::new("key".to_owned(), Span::NONE);
        let mut parts = Parts::new(&key);
        spec.parts(&mut parts);
        let values: Values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let spoken: Vec<Spoken> =
            spoken(&parts).into_iter().map(|one| Spoken { values: values.clone(), ..one }).collect();
        all(&spoken, &|at| parts.numbered(at), None)
    }

    fn template() -> Value {
        json!({
            "variables": [{"key": "NAME", "default_value": "there"}, {"key": "SALE"}],
            "push": {
                "notification": {
                    "alert": "Hi {{NAME}}, {{SALE}} off",
                    "web": {"title": "For {{NAME}}"},
                    "ios": {"title": "Only for {{NAME}}"},
                    "actions": {"open": {"type": "url", "content": "https://example.com/{{NAME}}"}, "add_tag": ["a", "b"]},
                    "interactive": {"type": "ua_remind_me_later", "button_actions": {"remind": {"add_tag": "later"}}},
                },
                "message": {"title": "{{NAME}}", "body": "<p>Dear {{NAME}}</p>"},
            },
        })
    }

    #[test]
    fn defaults_are_filled_in_everywhere_and_what_has_none_is_named() {
        let seen = shown("templates", &template(), &[]).remove(0);
        assert_eq!(seen.text, "Hi there, {{SALE}} off");
        assert_eq!(seen.title.as_deref(), Some("For there"));
        let titles: Vec<_> = seen.fits.iter().map(Fit::title).collect();
        assert_eq!(titles, [Some("Only for there"), None, Some("For there")]);
        assert_eq!(seen.tap.as_deref(), Some("opens https://example.com/there and adds the tags a and b"));
        assert_eq!(
            (seen.buttons, seen.presses),
            (vec!["Remind me later".to_owned()], vec!["“Remind me later” adds the tag later".to_owned()])
        );
        assert_eq!(seen.message, Some(Center { title: "there".into(), text: "Dear there".into() }));
        assert_eq!(seen.unfilled, ["SALE"]);
        assert_eq!(seen.label, None);
    }

    #[test]
    fn a_plain_body_is_the_text_itself() {
        assert_eq!(body_text(" <b> \n", Some("text/plain; charset=utf-8")), "<b>");
        assert_eq!(body_text("<b>x</b>", Some("TEXT/HTML")), "x");
    }

    #[test]
    fn what_is_filled_in_has_an_end() {
        let text = "{{A}}".repeat(1000);
        let variables = shown_variables(&"x".repeat(1024 * 1024));
        assert_eq!(filled(&text, Some(&variables), &Values::new()).len(), 5 * 1024 * 1024 + 995 * 5);
    }

    fn shown_variables(default: &str) -> Vec<Variable> {
        let at = |text: &str| At::new(text.to_owned(), Span::NONE);
        vec![Variable { key: at("A"), name: None, description: None, default_value: Some(at(default)) }]
    }

    #[test]
    fn given_values_come_before_defaults_and_are_not_filled_again() {
        let seen = shown("templates", &template(), &[("NAME", "{{SALE}}"), ("SALE", "20 %"), ("OTHER", "x")]).remove(0);
        assert_eq!(seen.text, "Hi {{SALE}}, 20 % off");
    }

    #[test]
    fn a_value_from_right_to_left_turns_the_text_only_where_it_comes_first() {
        let spec = json!({"variables": [{"key": "NAME"}], "push": {"notification": {"alert": "{{NAME}}, come back"}}});
        assert!(shown("templates", &spec, &[("NAME", "דנה")])[0].rtl);
        assert!(!shown("templates", &spec, &[("NAME", "Dana")])[0].rtl);
    }

    #[test]
    fn several_messages_have_numbers_and_one_has_none() {
        let push = |alert: &str| json!({"push": {"audience": "triggered", "device_types": ["web"], "notification": {"alert": alert}}});
        let spec =
            |outcome: Value| json!({"enabled": true, "immediate_trigger": {"tag_added": "x"}, "outcome": outcome});
        let labels = |outcome: Value| -> Vec<Option<String>> {
            shown("pipelines", &spec(outcome), &[]).into_iter().map(|seen| seen.label).collect()
        };
        assert_eq!(labels(json!([push("a"), push("b")])), [Some("outcome 1".into()), Some("outcome 2".into())]);
        assert_eq!(labels(push("a")), [None]);
    }

    #[test]
    fn screens_are_those_of_the_devices_that_it_goes_to() {
        let screens = |devices: Value| -> Vec<String> {
            let push = json!({"audience": "all", "device_types": devices, "notification": {"alert": "Hi"}});
            let spec = json!({"schedule": {"scheduled_time": "2026-11-27T14:00:00"}, "push": push});
            let fits = shown("scheduled_pushes", &spec, &[]).remove(0).fits;
            fits.into_iter().map(|fit| format!("{}: {}", fit.screen, fit.device)).collect()
        };
        assert_eq!(screens(json!(["web", "amazon"])), ["browser notification: web"]);
        assert_eq!(
            screens(json!(["amazon", "open::tv", "open::sms", "amazon"])),
            ["amazon device: amazon", "open::tv: open::tv", "open::sms: open::sms"]
        );
        assert_eq!(screens(json!("all")).len(), 3);
    }
}
