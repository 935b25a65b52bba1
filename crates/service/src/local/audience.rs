//! The members of an audience, and explanations.

use std::collections::BTreeSet;

use pushplan_model::node::{At, shape};
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use serde_json::json;

use super::devices::find;
use super::explain::Explainer;
use crate::answer::{Answer, Refusal};
use crate::api::Question;
use crate::request::{Request, RequestBody};
use crate::state::App;
use crate::state::devices::{Device, Members};

/// The maximum number of members to list.
const NAMED: usize = 100;

shape! {
    /// A question about an audience.
    pub struct AudienceQuery as "{audience: ...}" {
        /// The audience.
        audience: At<Selector>,
        /// The device types; by default, all.
        device_types: Option<At<DeviceTypes>>,
    }
}

shape! {
    /// A question whether a device is in an audience.
    pub struct AskedWhy as "{audience: ..., device: ...}" {
        /// The audience.
        audience: At<Selector>,
        /// The id of the device.
        device: At<String>,
    }
}

/// Counts the devices of an audience, and lists some.
pub fn count(_: &Request, sent: &RequestBody) -> Result<Question, Refusal> {
    let asked: AudienceQuery = sent.read()?;
    Ok(Box::new(move |app, call| {
        let AudienceQuery { audience, device_types } = &asked;
        let is_wanted = |kind: &str| match device_types {
            None => true,
            Some(types) => DeviceType::parse(kind).is_some_and(|kind| types.includes(&kind)),
        };
        let mut members = app.members(audience, call.now);
        members.retain(|number| app.devices.device(*number).is_some_and(|device| is_wanted(&device.device_type)));
        let reachable = |number: &&u32| app.devices.device(**number).is_some_and(Device::is_reachable);
        let mut body = json!({
            "count": members.len(),
            "reachable": members.iter().filter(reachable).count(),
            "devices": members.iter().take(NAMED).map(|number| app.devices.id(*number)).collect::<Vec<_>>(),
        });
        let unknown = unknown_segments(app, audience);
        if !unknown.is_empty() {
            body["unknown_segments"] = json!(unknown);
        }
        Ok(Answer::bare(200, body))
    }))
}

/// Returns the unknown segments that an audience names, including those within other segments. Nobody is in an unknown
/// segment.
fn unknown_segments<'a>(app: &'a App, audience: &'a At<Selector>) -> BTreeSet<&'a str> {
    let (mut unknown, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![audience]);
    while let Some(selector) = open.pop() {
        selector.walk(&mut |selector| {
            let Selector::Segment(reference) = &selector.value else { return };
            let (SegmentRef::Key(id) | SegmentRef::Id(id)) = &reference.value;
            match app.segments.criteria.get(id) {
                Some(criteria) if seen.insert(id) => open.push(criteria),
                Some(_) => {}
                None => drop(unknown.insert(id.as_str())),
            }
        });
    }
    unknown
}

/// Explains in words whether a device is in an audience.
pub fn explain(_: &Request, sent: &RequestBody) -> Result<Question, Refusal> {
    let asked: AskedWhy = sent.read()?;
    Ok(Box::new(move |app, call| {
        let AskedWhy { audience, device: id } = &asked;
        let device = find(app, id)?;
        let members = Members { devices: &app.devices, segments: &app.segments.criteria, now: call.now };
        let why = Explainer::new(app, members, id).why(audience);
        let unreached = match (device.installed, device.opt_in) {
            (false, _) => Some("the app is not installed"),
            (true, false) => Some("it has not opted in to notifications"),
            (true, true) => None,
        };
        let body = json!({
            "device": id,
            "in": why.holds,
            "reachable": device.is_reachable(),
            "unreachable_because": unreached,
            "why": why,
        });
        Ok(Answer::bare(200, body))
    }))
}
