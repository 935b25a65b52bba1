//! Reports, counted from pushes that were sent, opened and tapped.

mod range;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::paging;
use crate::answer::{Answer, Answered, Refusal};
use crate::request::Call;
use crate::state::{App, Hour, Precision, Sent, iso};
use range::{Range, next_page, precision};

/// The platforms in reports by period.
const PLATFORMS: [&str; 2] = ["ios", "android"];

/// The maximum number of periods in one answer. The rest follows in `next_page`.
const PERIODS: usize = 10_000;

/// The default and the maximum number of pushes in a list.
const PUSHES: (usize, usize) = (100, 1000);

pub fn sends(app: &App, call: &Call) -> Answered {
    by_period(app, call, "sends", &|hours, platform, _| count(hours, "sends", platform).into())
}

pub fn responses(app: &App, call: &Call) -> Answered {
    by_period(app, call, "responses", &|hours, platform, _| {
        json!({
            "direct": count(hours, "direct", platform),
            "influenced": count(hours, "influenced", platform),
        })
    })
}

pub fn opens(app: &App, call: &Call) -> Answered {
    by_period(app, call, "opens", &|hours, platform, _| count(hours, "opens", platform).into())
}

/// In seconds.
pub(crate) fn time_in_app(app: &App, call: &Call) -> Answered {
    by_period(app, call, "timeinapp", &|hours, platform, _| count(hours, "timeinapp", platform).into())
}

/// Users who have opted in and opened the app. A user who opens it twice in a period counts once.
pub(crate) fn opt_ins(app: &App, call: &Call) -> Answered {
    by_period(app, call, "optins", &|hours, platform, precision| {
        count(hours, &precision.users("optins"), platform).into()
    })
}

/// Users who have opted out and opened the app. A user who opens it twice in a period counts once.
pub(crate) fn opt_outs(app: &App, call: &Call) -> Answered {
    by_period(app, call, "optouts", &|hours, platform, precision| {
        count(hours, &precision.users("optouts"), platform).into()
    })
}

/// Returns a report with one item for every period of the range, including those in which nothing happened.
fn by_period(app: &App, call: &Call, name: &str, value: &dyn Fn(&[&Hour], &str, Precision) -> Value) -> Answered {
    let range = Range::read(call.request)?;
    let precision = precision(call.request)?;
    let mut starts = range.periods(precision);
    let page: Vec<_> = starts.by_ref().take(PERIODS).collect();
    let keys: Vec<String> = page.iter().map(|start| start.strftime("%Y-%m-%d %H").to_string()).collect();

    let mut hours: BTreeMap<&str, Vec<&Hour>> = BTreeMap::new();
    if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
        let within = app.activity.hours.from(precision.period(first));
        let within = within.map(|(key, hour)| (precision.period(key), hour));
        for (period, hour) in within.take_while(|(period, _)| *period <= precision.period(last)) {
            hours.entry(period).or_default().push(hour);
        }
    }
    let items = page.iter().zip(&keys).map(|(start, key)| {
        let hours = hours.get(precision.period(key)).map_or(&[][..], Vec::as_slice);
        let mut item = Map::new();
        item.insert("date".to_owned(), start.strftime("%Y-%m-%d %H:%M:%S").to_string().into());
        for platform in PLATFORMS {
            item.insert(platform.to_owned(), value(hours, platform, precision));
        }
        Value::Object(item)
    });
    let mut body = json!({ name: items.collect::<Vec<_>>() });
    if let Some(next) = starts.next() {
        let start = next.strftime("%Y-%m-%d %H:%M:%S").to_string();
        body["next_page"] = next_page(call.request, "start", &start).into();
    }
    Ok(Answer::bare(200, body))
}

fn count(hours: &[&Hour], name: &str, platform: &str) -> u64 {
    hours.iter().filter_map(|hour| hour.0.get(name)?.get(platform)).sum()
}

pub fn push(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let sent = app.sent.get(id).ok_or_else(|| Refusal::not_found("Push"))?;
    let mut record = record(sent);
    record["push_id"] = id.into();
    Ok(Answer::bare(200, record))
}

/// Lists pushes in the order in which they were sent, so that a new push does not move the pages.
pub fn list(app: &App, call: &Call) -> Answered {
    let request = call.request;
    let range = Range::read(request)?;
    let limit = request.number("limit", PUSHES.0, PUSHES.1)?.max(1);
    let (start, end) = range.moments();
    let first = match request.query("push_id_start") {
        None => (start, 0),
        Some(id) => match app.sent.get(id) {
            Some(sent) => sent.place().max((start, 0)),
            None => return Err(Refusal::invalid(format!("`push_id_start`: there is no push `{id}`"))),
        },
    };
    let mut within = app.sent.from(first).take_while(|(time, _)| *time <= end);
    let lines: Vec<_> =
        within.by_ref().take(limit).filter_map(|(_, id)| app.sent.line(id, |sent| line(id, sent))).collect();
    let mut fields = json!({});
    if let Some((_, next)) = within.next() {
        fields["next_page"] = next_page(request, "push_id_start", next).into();
    }
    Ok(paging::page("pushes", &lines, "", &fields))
}

fn line(id: &str, sent: &Sent) -> String {
    let mut item = record(sent);
    item["push_uuid"] = id.into();
    item["group_id"] = sent.group_id.clone().into();
    item.to_string()
}

/// Returns the fields that every record of a push has.
fn record(sent: &Sent) -> Value {
    json!({
        "push_time": TimeZone::UTC.to_datetime(sent.time).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        "push_type": sent.push_type,
        "sends": sent.sends.values().sum::<u64>(),
        "direct_responses": sent.direct_responses.values().sum::<u64>(),
    })
}

#[derive(Default)]
struct Devices {
    opted_in: u64,
    opted_out: u64,
    uninstalled: u64,
}

/// Counts the devices that were known at the end of a date, in their state at that time.
pub fn devices(app: &App, call: &Call) -> Answered {
    let closed = match call.request.query("date") {
        None => call.now,
        Some(_) => range::last_moment(call.request, "date")?.min(call.now),
    };
    let mut platforms: BTreeMap<&str, Devices> = PLATFORMS.map(|name| (name, Devices::default())).into();
    for (_, device) in app.devices.iter().filter(|(_, device)| device.created <= closed) {
        let counts = platforms.entry(&device.device_type).or_default();
        let then = device.at(closed);
        match (then.installed, then.opt_in) {
            (false, _) => counts.uninstalled += 1,
            (true, true) => counts.opted_in += 1,
            (true, false) => counts.opted_out += 1,
        }
    }
    let total: u64 = platforms.values().map(|counts| counts.opted_in + counts.opted_out).sum();
    let counts = platforms.into_iter().map(|(platform, Devices { opted_in, opted_out, uninstalled })| {
        let counts = json!({
            "unique_devices": opted_in + opted_out,
            "opted_in": opted_in,
            "opted_out": opted_out,
            "uninstalled": uninstalled,
        });
        (platform.to_owned(), counts)
    });
    let body = json!({
        "total_unique_devices": total,
        "date_computed": iso(call.now),
        "date_closed": iso(closed),
        "counts": counts.collect::<Map<_, _>>(),
    });
    Ok(Answer::bare(200, body))
}
