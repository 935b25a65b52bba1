//! Lookups for authors: places, channels, named users, and resources of a kind.

pub mod json;
mod thing;

pub use thing::LookedUpThing;

use std::collections::BTreeMap;

use super::layout::{self, Paint, Row, Style, Words};
use super::table::{Align, Table};
use crate::node::yaml_text;
use crate::nouns::vocabulary::group;
use crate::query::people::{Channel, NamedUser};
use crate::query::place::GeoPlace;
use crate::text;
use crate::text::moment;

/// The number of lines of criteria that are shown.
const MOST_LINES: usize = 200;

/// Places, each with the id that manifests use.
pub fn places(places: &[GeoPlace], style: Style) -> String {
    let columns = ["name", "type", "context", "id"].map(|title| (title, Align::Left));
    let mut table = Table::new(&columns);
    for place in places {
        let context: Vec<String> = place.context.iter().map(|(key, value)| format!("{key} {value}")).collect();
        table.row([place.name.clone(), place.r#type.clone(), context.join(", "), place.id.clone()]);
    }
    let mut out = table.text(style);
    out.push('\n');
    let id = places.first().map_or("ID", |place| place.id.as_str());
    let line = format!("location: {{id: {}, date: {{recent: {{months: 1}}}}}}", yaml_text(id));
    let words = Words::new("In the criteria of a segment: ").copy(&line);
    layout::paragraph(&mut out, &words, 0, style);
    out
}

/// All properties of a channel.
pub fn channel(channel: &Channel, style: Style) -> String {
    let Channel { channel_id, named_user_id, tags, tag_groups, created, last_registration, .. } = channel;
    let mut rows = vec![
        Row::new("channel", Words::default().together(channel_id, Paint::Strong)),
        Row::new("device", Words::new(&device(channel))),
    ];
    rows.extend(channel.address.as_ref().map(|address| Row::new("address", Words::new(address))));
    let flag = |label: &str, flag: Option<bool>| flag.map(|flag| Row::new(label, Words::new(yes(flag))));
    rows.extend(flag("installed", channel.installed));
    rows.extend(flag("opted in", channel.opt_in));
    rows.extend(flag("background", channel.background));
    let user = match named_user_id {
        Some(user) => Words::new(user),
        None => Words::default().paint("none", Paint::Faint),
    };
    rows.push(Row::new("named user", user));
    rows.extend(time("created", created.as_ref()));
    rows.extend(time("last seen", last_registration.as_ref()));
    let mut out = String::new();
    layout::rows(&mut out, &rows, 0, style);
    out.push('\n');
    tagged(&mut out, tags, tag_groups, style);
    out
}

/// A named user with its channels.
pub fn named_user(user: &NamedUser, style: Style) -> String {
    let NamedUser { named_user_id, tags, channels, created, last_modified } = user;
    let mut rows = vec![Row::new("named user", Words::default().together(named_user_id, Paint::Strong))];
    rows.extend(time("created", created.as_ref()));
    rows.extend(time("changed", last_modified.as_ref()));
    let mut out = String::new();
    layout::rows(&mut out, &rows, 0, style);
    out.push('\n');
    tagged(&mut out, &[], tags, style);
    out.push('\n');
    if channels.is_empty() {
        layout::paragraph(&mut out, &Words::new("It has no channels: a push to it reaches nobody."), 0, style);
        return out;
    }
    let columns = ["channel", "device", "installed", "opted in", "last seen"].map(|title| (title, Align::Left));
    let mut table = Table::new(&columns);
    for channel in channels {
        let flag = |flag: Option<bool>| flag.map(yes).unwrap_or_default().to_owned();
        let seen = channel.last_registration.as_deref().map(moment).unwrap_or_default();
        let cells = [channel.channel_id.clone(), device(channel), flag(channel.installed), flag(channel.opt_in), seen];
        table.row(cells);
    }
    out.push_str(&table.text(style));
    out
}

fn yes(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

fn device(channel: &Channel) -> String {
    match &channel.open_platform_name {
        Some(platform) => format!("open::{platform}"),
        None => channel.device_type.clone(),
    }
}

fn time(label: &str, time: Option<&String>) -> Option<Row> {
    time.map(|time| Row::new(label, Words::new(&moment(time))))
}

/// Tags without a group and by group. For groups that the service fills in, manifests have a keyword instead.
fn tagged(out: &mut String, own: &[String], groups: &BTreeMap<String, Vec<String>>, style: Style) {
    if own.is_empty() && groups.is_empty() {
        return layout::paragraph(out, &Words::new("No tags."), 0, style);
    }
    let columns = ["tag group", "shorthand", "tags"].map(|title| (title, Align::Left));
    let mut table = Table::new(&columns);
    if !own.is_empty() {
        table.row(["(none)".to_owned(), String::new(), own.join(", ")]);
    }
    for (id, tags) in groups {
        let shorthand = group(id).map_or("", |known| known.shorthand);
        table.row([id.clone(), shorthand.to_owned(), tags.join(", ")]);
    }
    out.push_str(&table.text(style));
}

/// Resources of a kind that have the same name.
pub fn things(things: &[LookedUpThing], style: Style) -> String {
    let mut out = String::new();
    for (at, thing) in things.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        layout::rows(&mut out, &rows(thing), 0, style);
    }
    out
}

fn rows(thing: &LookedUpThing) -> Vec<Row> {
    let mut rows = vec![
        Row::new(thing.kind, Words::new(&text::quoted(&thing.name))),
        Row::new("id", Words::default().together(&thing.id, Paint::Strong)),
        match &thing.address {
            Some(address) => Row::new("in git", Words::new(address)),
            None => Row::new("in git", Words::default().paint("not managed", Paint::Faint)),
        },
    ];
    let times = [("created", &thing.created), ("changed", &thing.changed), ("last used", &thing.last_used)];
    rows.extend(times.into_iter().filter_map(|(label, at)| time(label, at.as_ref())));
    rows.extend(thing.description.as_ref().map(|said| Row::new("purpose", Words::new(said))));
    for audience in &thing.audiences {
        rows.push(Row::new("who", Words::new(&audience.words)));
        let mut criteria = audience.criteria.iter().take(MOST_LINES).map(|line| Words::new(line));
        if let Some(first) = criteria.next().filter(|_| audience.criteria.len() > 1) {
            let mut row = criteria.fold(Row::new("criteria", first), Row::line);
            if let Some(more) = audience.criteria.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
                row = row
                    .line(Words::default().paint(&format!("… and {}", text::count(more, "more line")), Paint::Faint));
            }
            rows.push(row);
        }
    }
    for message in &thing.messages {
        rows.extend(message.alert.as_ref().map(|alert| Row::new("alert", Words::new(&text::quoted(alert)))));
        rows.extend(message.title.as_ref().map(|title| Row::new("message", Words::new(&text::quoted(title)))));
    }
    let variables = thing.variables.iter().map(|variable| {
        let words = Words::new(&format!("{{{{{}}}}}", variable.key));
        match &variable.default_value {
            Some(value) => words.and(&format!(", {} by default", text::quoted(value))),
            None => words.and(", which has no default"),
        }
    });
    let mut variables = variables.collect::<Vec<_>>().into_iter();
    if let Some(first) = variables.next() {
        rows.push(variables.fold(Row::new("variables", first), Row::line));
    }
    rows
}

#[cfg(test)]
mod tests;
