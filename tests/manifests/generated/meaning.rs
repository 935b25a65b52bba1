//! What a project means, with the ways in which it may be written left open.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::{collection, option, sample};

use super::further::{FURTHER, further};

/// One resource.
#[derive(Clone)]
pub struct Meant {
    pub kind: &'static str,
    pub key: String,
    pub tree: Tree,
}

/// As it is written plainly, for readers of of a failure.
impl fmt::Debug for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::writing::plainly(std::slice::from_ref(self)))
    }
}

/// What is written. Whoever writes it chooses where there is a choice.
#[derive(Clone, Debug)]
pub enum Tree {
    /// A text, with or without quotes.
    Text(String),
    /// A number, or true or false: never in quotes.
    Bare(String),
    List(Vec<Tree>),
    /// A list that may be written as its only item.
    Many(Vec<Tree>),
    /// A list in any order.
    Set(Vec<Tree>),
    /// A map with known keys, in any order; `x-` keys may be among them.
    Map(Vec<Field>),
    /// A map whose keys are all of them data.
    Free(Vec<Field>),
    /// One thing that can be written in several ways.
    Either(Vec<Tree>),
}

#[derive(Clone, Debug)]
pub struct Field {
    /// Spellings of the key.
    pub keys: Vec<String>,
    pub value: Tree,
    /// It says what holds without it.
    pub optional: bool,
}

impl Field {
    pub fn new(key: impl Into<String>, value: Tree) -> Self {
        Self { keys: vec![key.into()], value, optional: false }
    }
}

impl Tree {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

pub(super) fn map<const N: usize>(fields: [(&str, Tree); N]) -> Tree {
    Tree::Map(fields.map(|(key, value)| Field::new(key, value)).into())
}

/// Adds what is there to a map.
pub(super) fn with(tree: Tree, more: impl IntoIterator<Item = (&'static str, Option<Tree>)>) -> Tree {
    let Tree::Map(mut fields) = tree else { panic!("not a map") };
    fields.extend(more.into_iter().filter_map(|(key, value)| Some(Field::new(key, value?))));
    Tree::Map(fields)
}

fn text() -> impl Strategy<Value = Tree> {
    "[A-Za-z0-9é日😀][-A-Za-z0-9 .,:#'\"\\[\\]{}&*!|>%@é日😀]{0,14}[a-z0-9](\n[a-z][a-z :#]{0,8}[a-z])?"
        .prop_map(Tree::Text)
}

pub(super) fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9-]{0,8}[a-z0-9]",
        sample::select(vec!["true", "no", "6.10", "null", "1e3", "~", "on"]).prop_map(str::to_owned)
    ]
}

fn texts() -> impl Strategy<Value = Tree> {
    collection::vec(word().prop_map(Tree::Text), 1..4).prop_map(Tree::Many)
}

fn or(members: Vec<Tree>) -> Tree {
    compound("or", Tree::List(members))
}

fn compound(word: &str, members: Tree) -> Tree {
    let capital = word[..1].to_uppercase() + &word[1..];
    let keys = vec![word.to_uppercase(), word.to_owned(), capital];
    Tree::Map(vec![Field { keys, value: members, optional: false }])
}

/// A key beside another, such as `group` beside `tag`.
type Beside = (&'static str, Tree);

/// `{tag: [a, b]}` and `{or: [{tag: a}, {tag: b}]}`; for one value, that value alone.
fn any_of(key: &'static str, values: Vec<Tree>, beside: Option<&Beside>) -> Tree {
    let one = |value: Tree| with(map([(key, value)]), beside.map(|(key, value)| (*key, Some(value.clone()))));
    let list = one(Tree::List(values.clone()));
    match &values[..] {
        [value] => Tree::Either(vec![one(value.clone()), list]),
        _ => Tree::Either(vec![or(values.into_iter().map(one).collect()), list]),
    }
}

fn leaf() -> BoxedStrategy<Tree> {
    let values = || collection::vec(word().prop_map(Tree::Text), 1..4);
    let property = |short: &'static str, group: &'static str, among: &[&'static str]| {
        let values = collection::vec(sample::select(among.to_vec()), 1..3);
        values.prop_map(move |values| {
            let values: Vec<Tree> = values.into_iter().map(Tree::text).collect();
            let long = any_of("tag", values.clone(), Some(&("group", Tree::text(group))));
            Tree::Either(vec![long, any_of(short, values, None)])
        })
    };
    let flag = |short: &'static str, group: &'static str| {
        any::<bool>().prop_map(move |value| {
            let quoted = Tree::text(value.to_string());
            let long = map([("tag", quoted.clone()), ("group", Tree::text(group))]);
            Tree::Either(vec![long, map([(short, Tree::Bare(value.to_string()))]), map([(short, quoted)])])
        })
    };
    let id = "[0-9a-f]{8}-[0-9a-f]{4}";
    prop_oneof![
        values().prop_map(|values| any_of("tag", values, None)),
        (values(), word()).prop_map(|(values, group)| any_of("tag", values, Some(&("group", Tree::Text(group))))),
        property("country", "ua_locale_country", &["US", "NO", "FR"]),
        property("language", "ua_locale_language", &["en", "no", "fr"]),
        property("timezone", "timezone", &["America/New_York", "Europe/Paris"]),
        property("ios_version", "ua_ios_version", &["8.3.X", "9.0.X"]),
        flag("opt_in", "ua_opt_in"),
        values().prop_map(|values| any_of("named_user", values, None)),
        values().prop_map(|values| any_of("segment", values, None)),
        id.prop_map(|id| map([("segment", map([("id", Tree::Text(id))]))])),
        (sample::select(vec!["ios_channel", "android_channel", "amazon_channel", "channel"]), id)
            .prop_map(|(key, id)| any_of(key, vec![Tree::Text(id)], None)),
        (id, option::of(1..12_i64)).prop_map(|(id, months)| {
            let months = months.map(|months| map([("recent", map([("months", Tree::Bare(months.to_string()))]))]));
            map([("location", with(map([("id", Tree::Text(id))]), [("date", months)]))])
        }),
    ]
    .boxed()
}

fn selector() -> BoxedStrategy<Tree> {
    leaf()
        .prop_recursive(4, 12, 3, |inner| {
            let members = || collection::vec(inner.clone(), 1..4).prop_map(Tree::Many);
            prop_oneof![
                members().prop_map(|members| compound("and", members)),
                members().prop_map(|members| compound("or", members)),
                inner.clone().prop_map(|member| compound("not", member)),
            ]
        })
        .boxed()
}

fn audience() -> impl Strategy<Value = Tree> {
    prop_oneof![1 => Just(Tree::text("all")), 4 => selector()]
}

fn devices() -> impl Strategy<Value = Tree> {
    let some = sample::subsequence(vec!["ios", "android", "amazon", "web", "open::sms"], 1..4);
    prop_oneof![Just(Tree::text("all")), some.prop_map(|names| Tree::Many(names.into_iter().map(Tree::text).collect()))]
}

fn actions() -> BoxedStrategy<Tree> {
    let open = "https://example\\.com/[a-z]{1,6}"
        .prop_map(|url| map([("type", Tree::text("url")), ("content", Tree::Text(url))]));
    (option::of(texts()), option::of(texts()), option::of(text()), option::of(open))
        .prop_map(|(add, remove, share, open)| {
            with(map([]), [("add_tag", add), ("remove_tag", remove), ("share", share), ("open", open)])
        })
        .boxed()
}

/// What single platforms get instead of the common notification.
fn overrides() -> BoxedStrategy<[Option<Tree>; 2]> {
    let number = |from: i64, to: i64| option::of((from..to).prop_map(|number| Tree::Bare(number.to_string())));
    let badge = sample::select(vec!["auto", "+1", "-1"]).prop_map(Tree::text);
    let ios = (text(), option::of(text()), option::of(badge), number(0, 2), option::of(text())).prop_map(
        |(title, subtitle, badge, relevance, alert)| {
            let more = [("subtitle", subtitle), ("badge", badge), ("relevance_score", relevance), ("alert", alert)];
            with(map([("title", title)]), more)
        },
    );
    let extra = word().prop_map(|value| Tree::Free(vec![Field::new("key", Tree::Text(value))]));
    let android = (text(), option::of(text()), number(-2, 3), number(-1, 2), option::of(extra)).prop_map(
        |(title, summary, priority, visibility, extra)| {
            let more = [("summary", summary), ("priority", priority), ("visibility", visibility), ("extra", extra)];
            with(map([("title", title)]), more)
        },
    );
    (option::weighted(0.3, ios), option::weighted(0.3, android)).prop_map(|(ios, android)| [ios, android]).boxed()
}

fn notification() -> BoxedStrategy<Tree> {
    let button = actions().prop_map(|actions| {
        let buttons = Tree::Free(vec![Field::new("remind", actions)]);
        map([("type", Tree::text("ua_remind_me_later")), ("button_actions", buttons)])
    });
    let web = text().prop_map(|title| map([("title", title)]));
    (text(), option::of(actions()), option::of(button), option::of(web), overrides())
        .prop_map(|(alert, actions, interactive, web, [ios, android])| {
            let more = [("actions", actions), ("interactive", interactive), ("web", web)];
            with(map([("alert", alert)]), more.into_iter().chain([("ios", ios), ("android", android)]))
        })
        .boxed()
}

/// The content for some locales, each once.
fn localizations() -> BoxedStrategy<Tree> {
    let locales = vec![("de", None), ("de", Some("AT")), ("fr", None), ("es", Some("MX"))];
    (sample::subsequence(locales, 1..3), collection::vec(notification(), 2))
        .prop_map(|(locales, notifications)| {
            let one = |((language, country), notification): ((&str, Option<&str>), Tree)| {
                let tree = map([("language", Tree::text(language)), ("notification", notification)]);
                with(tree, [("country", country.map(Tree::text))])
            };
            Tree::List(locales.into_iter().zip(notifications).map(one).collect())
        })
        .boxed()
}

fn message() -> BoxedStrategy<Tree> {
    (text(), text(), option::of(Just(Tree::text("text/html"))))
        .prop_map(|(title, body, kind)| with(map([("title", title), ("body", body)]), [("content_type", kind)]))
        .boxed()
}

fn content() -> BoxedStrategy<Tree> {
    (notification(), option::of(message()), option::weighted(0.2, localizations()))
        .prop_map(|(notification, message, localizations)| {
            with(map([("notification", notification)]), [("message", message), ("localizations", localizations)])
        })
        .boxed()
}

fn push(audience: impl Strategy<Value = Tree>) -> impl Strategy<Value = Tree> {
    let campaigns = texts().prop_map(|names| map([("categories", names)]));
    (audience, devices(), content(), option::of(campaigns)).prop_map(|(audience, devices, content, campaigns)| {
        with(content, [("audience", Some(audience)), ("device_types", Some(devices)), ("campaigns", campaigns)])
    })
}

/// One instant, in UTC with and without its letter, and in the clocks of some zones.
fn schedule() -> impl Strategy<Value = Tree> {
    (1_767_225_600_i64 / 60..1_830_297_600 / 60).prop_map(|minute| {
        let at = Timestamp::from_second(minute * 60).expect("a time");
        let utc = TimeZone::UTC.to_datetime(at);
        let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H%M", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:00", "%Y-%m-%dT%H:%M:00Z"];
        let time = |text: String| ("scheduled_time", Tree::Text(text));
        let mut ways: Vec<Tree> = forms.iter().map(|form| map([time(utc.strftime(form).to_string())])).collect();
        for name in ["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata"] {
            let zone = TimeZone::get(name).expect("a zone");
            let local = zone.to_datetime(at);
            if !zone.to_ambiguous_timestamp(local).is_ambiguous() {
                ways.push(map([time(local.strftime(forms[0]).to_string()), ("time_zone", Tree::text(name))]));
            }
        }
        Tree::Either(ways)
    })
}

fn delay() -> impl Strategy<Value = Tree> {
    (1..1_000_000_i64).prop_map(|seconds| {
        let mut left = seconds;
        let mut units = String::new();
        for (unit, size) in [('w', 604_800), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)] {
            if left >= size {
                units += &format!("{}{unit}", left / size);
                left %= size;
            }
        }
        Tree::Either(vec![Tree::Bare(seconds.to_string()), Tree::text(format!("{seconds}s")), Tree::Text(units)])
    })
}

fn trigger() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Tree::text("first_open")),
        word().prop_map(|tag| {
            let tag = Tree::Text(tag);
            Tree::Either(vec![map([("tag_added", tag.clone())]), map([("tag_added", map([("tag", tag)]))])])
        }),
        (word(), word()).prop_map(|(tag, group)| {
            map([("tag_added", map([("tag", Tree::Text(tag)), ("group", Tree::Text(group))]))])
        }),
    ]
}

/// Further fields that it lacks, of any resource.
const EXTENDED: [&str; 5] = ["ios", "android", "localizations", "control", "weight"];

impl Tree {
    /// Removes the fields that the contract lacks.
    pub fn document(&mut self) {
        self.remove(&[&FURTHER[..], &EXTENDED].concat());
    }

    /// Removes fields, at any depth.
    pub fn remove(&mut self, names: &[&str]) {
        match self {
            Self::Text(_) | Self::Bare(_) => {}
            Self::List(items) | Self::Many(items) | Self::Set(items) | Self::Either(items) => {
                items.iter_mut().for_each(|item| item.remove(names));
            }
            Self::Map(fields) | Self::Free(fields) => {
                fields.retain(|field| !names.contains(&field.keys[0].as_str()));
                fields.iter_mut().for_each(|field| field.value.remove(names));
            }
        }
    }
}

/// A resource's own name, which may be left out where it is the key.
fn named(field: &'static str, key: &str, name: Option<Tree>, tree: Tree) -> Tree {
    let optional = name.is_none();
    let value = name.unwrap_or_else(|| Tree::text(key));
    let Tree::Map(mut fields) = tree else { panic!("not a map") };
    fields.push(Field { keys: vec![field.to_owned()], value, optional });
    Tree::Map(fields)
}

fn resource() -> BoxedStrategy<Meant> {
    // A key that begins with x- is the author's own and declares nothing.
    let key = || "[a-wyz][a-z0-9-]{0,6}[a-z0-9]";
    let by_id = || {
        collection::btree_map("[a-z0-9-]{3,9}", texts(), 0..3)
            .prop_map(|members| Tree::Free(members.into_iter().map(|(id, tags)| Field::new(id, tags)).collect()))
    };
    let meant = |kind: &'static str| move |(key, tree): (String, Tree)| Meant { kind, key, tree };
    let tag_group =
        (option::of(text()), option::of(texts()), by_id(), by_id()).prop_map(|(about, tags, users, ios)| {
            let members = map([("named_users", users), ("ios_channels", ios)]);
            with(map([("members", members)]), [("description", about), ("tags", tags)])
        });
    let segment = (key(), option::of(text()), selector()).prop_map(|(key, name, criteria)| {
        let tree = named("display_name", &key, name, map([("criteria", criteria)]));
        (key, tree)
    });
    let variable = ("[A-Z]{2,8}", option::of(text()), option::of(text())).prop_map(|(key, name, default)| {
        let tree = named("name", &key, name, map([("key", Tree::text(key.clone()))]));
        with(tree, [("default_value", default)])
    });
    let template = (key(), option::of(text()), collection::vec(variable, 0..3), content()).prop_map(
        |(key, name, variables, content)| {
            let variables =
                Field { keys: vec!["variables".into()], optional: variables.is_empty(), value: Tree::List(variables) };
            let Tree::Map(mut fields) = named("name", &key, name, map([("push", content)])) else {
                panic!("not a map")
            };
            fields.push(variables);
            (key, Tree::Map(fields))
        },
    );
    let outcome = (option::of(delay()), push(Just(Tree::text("triggered"))))
        .prop_map(|(delay, push)| with(map([("push", push)]), [("delay", delay)]));
    let messages = (collection::vec(trigger(), 1..3), collection::vec(outcome, 1..3));
    let pipeline = (key(), option::of(text()), any::<bool>(), messages, further()).prop_map(
        |(key, name, enabled, (triggers, outcomes), further)| {
            let tree = map([
                ("enabled", Tree::Bare(enabled.to_string())),
                ("immediate_trigger", Tree::Many(triggers)),
                ("outcome", Tree::Many(outcomes)),
            ]);
            let tree = with(named("name", &key, name, tree), FURTHER.into_iter().zip(further));
            (key, tree)
        },
    );
    let scheduled = (key(), option::of(text()), collection::vec(schedule(), 1..3), push(audience())).prop_map(
        |(key, name, schedules, push)| {
            let tree = named("name", &key, name, map([("schedule", Tree::Many(schedules)), ("push", push)]));
            (key, tree)
        },
    );
    let weight = option::of((1..9_i64).prop_map(|weight| Tree::Bare(weight.to_string())));
    let variant = (content(), schedule(), weight)
        .prop_map(|(push, schedule, weight)| with(map([("push", push), ("schedule", schedule)]), [("weight", weight)]));
    let control = option::of(sample::select(vec!["0.1", "0.25", "0.5"]).prop_map(|share| Tree::Bare(share.to_owned())));
    let whom = (audience(), devices(), control);
    let experiment = (key(), option::of(text()), whom, collection::vec(variant, 2..4)).prop_map(
        |(key, name, (audience, devices, control), variants)| {
            let tree = map([("audience", audience), ("device_types", devices), ("variants", Tree::List(variants))]);
            let tree = named("name", &key, name, with(tree, [("control", control)]));
            (key, tree)
        },
    );
    let channels = collection::btree_map("[0-9a-f]{8}", sample::select(vec!["ios", "android", "amazon"]), 1..5);
    let named_user = (key(), option::of(word().prop_map(Tree::Text)), channels).prop_map(|(key, name, channels)| {
        let channel =
            |(id, device): (String, &str)| map([("channel_id", Tree::Text(id)), ("device_type", Tree::text(device))]);
        let channels = Tree::Set(channels.into_iter().map(channel).collect());
        let tree = named("named_user_id", &key, name, map([("channels", channels)]));
        (key, tree)
    });
    let open_channel = (key(), any::<bool>(), option::of(texts()), text()).prop_map(|(key, opt_in, tags, carrier)| {
        let identifiers = Tree::Free(vec![Field::new("carrier", carrier)]);
        let open = map([("open_platform_name", Tree::text("sms")), ("identifiers", identifiers)]);
        let tree = map([("opt_in", Tree::Bare(opt_in.to_string())), ("open", open)]);
        let tree = with(named("address", &key, None, tree), [("tags", tags)]);
        (key, tree)
    });
    let legacy = (key(), option::of(word().prop_map(Tree::Text)), texts()).prop_map(|(key, name, channels)| {
        let tree = named("tag", &key, name, map([("ios_channels", channels)]));
        (key, tree)
    });
    prop_oneof![
        (key(), tag_group).prop_map(|(key, tree)| (key, tree)).prop_map(meant("tag_groups")),
        segment.prop_map(meant("segments")),
        template.prop_map(meant("templates")),
        pipeline.prop_map(meant("pipelines")),
        scheduled.prop_map(meant("scheduled_pushes")),
        experiment.prop_map(meant("experiments")),
        named_user.prop_map(meant("named_users")),
        open_channel.prop_map(meant("open_channels")),
        legacy.prop_map(meant("tags")),
    ]
    .boxed()
}

/// A project of any kinds, each address once.
pub fn project() -> BoxedStrategy<Vec<Meant>> {
    collection::vec(resource(), 1..8)
        .prop_map(|mut resources| {
            resources.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
            resources.dedup_by(|a, b| (a.kind, &a.key) == (b.kind, &b.key));
            resources
        })
        .boxed()
}
