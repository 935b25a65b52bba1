//! Hours, limits, cancellations, conditions and times of pipelines, from the manifest to the service and back.

use pushplan_testing::{Folder, Project, says};
use serde_json::{Value, json};

const CART: &str = "\
pipelines:
  cart:
    enabled: true
    immediate_trigger: {tag_added: cart-left}
    FIELD
    outcome: {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Still interested?}}}
";

const GROUP: &str = "tag_groups:\n  shop: {tags: [vip]}\n";

fn with(field: &str) -> String {
    let group = if field.contains("group: shop") { GROUP } else { "" };
    CART.replace("FIELD", field).replace("    \n", "") + group
}

/// A condition with the tags t0, t1 and so on.
fn tags(number: usize) -> String {
    let tags: Vec<String> = (0..number).map(|number| format!("{{tag: {{tag_name: t{number}}}}}")).collect();
    format!("condition: [{{or: [{}]}}]", tags.join(", "))
}

const WORK: &str = "monday, tuesday, wednesday, thursday, friday";

fn daypart(days: &str, times: &str) -> String {
    format!("{{days_of_week: [{days}], allowed_times: [{times}]}}")
}

fn scheduled(kind: &str, miss: &str, dayparts: &str) -> String {
    format!("timing: {{schedule: {{type: {kind}, miss_behavior: {miss}, dayparts: {dayparts}}}}}")
}

fn inactive(event: &str, equals: i64, days: i64) -> String {
    format!("historical_trigger: {{event: {event}, equals: {equals}, days: {days}}}")
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each field with valid values: its form on the wire, and its words in a plan.
#[test]
fn limits_reach_the_service_and_come_back() {
    let rate = |key: &str, number: i64, pushes: i64| json!([{ "rate": { "pushes": pushes, key: number } }]);
    let tag = |tag: Value| json!([{ "or": [{ "tag": tag }] }]);
    let is = |tag: &str| json!({ "tag": { "tag_name": tag } });
    let most = tags(20);
    let hours = |kind: &str, miss: &str, dayparts: Value| json!({ "schedule": { "type": kind, "miss_behavior": miss, "dayparts": dayparts } });
    let work = json!([{
        "days_of_week": ["monday", "tuesday", "wednesday", "thursday", "friday"],
        "allowed_times": [{ "start": "09:00:00", "end": "21:00:00" }],
    }]);
    let evening = json!([{ "days_of_week": ["friday"], "allowed_times": [{ "preferred": "18:00:00" }] }]);
    let edges = json!([
        { "days_of_week": ["monday"], "allowed_times": [{ "start": "00:00:00", "end": "00:00:01" }] },
        { "days_of_week": ["sunday"], "allowed_times": [{ "start": "12:00:00", "end": "23:59:59" }] },
    ]);
    for (written, wire, words) in [
        ("constraint: [{rate: {pushes: 1, days: 1}}]", rate("days", 1, 1), "at most 1 push in 1 day to one device"),
        ("constraint: {rate: {pushes: 2, days: 90}}", rate("days", 90, 2), "at most 2 pushes in 90 days to one device"),
        (
            "constraint: [{rate: {pushes: 3, hours: 1}}]",
            rate("hours", 1, 3),
            "at most 3 pushes in 1 hour to one device",
        ),
        (
            "constraint: [{rate: {pushes: 1, hours: 72}}]",
            rate("hours", 72, 1),
            "at most 1 push in 72 hours to one device",
        ),
        (
            "constraint: [{rate: {pushes: 1, lifetimes: 1}}]",
            rate("lifetimes", 1, 1),
            "at most 1 push ever to one device",
        ),
        (
            "constraint: [{rate: {pushes: 1, hours: 24}}, {rate: {pushes: 3, days: 7}}]",
            json!([{ "rate": { "pushes": 1, "hours": 24 } }, { "rate": { "pushes": 3, "days": 7 } }]),
            "at most 1 push in 24 hours to one device and at most 3 pushes in 7 days to one device",
        ),
        (
            "historical_trigger: {event: open, equals: 0, days: 1}",
            json!({ "event": "open", "equals": 0, "days": 1 }),
            "when the app is not opened for 1 day or the tag cart-left is added to a device",
        ),
        (
            "historical_trigger: [{event: open, equals: 0, days: 90}, {event: open, equals: 0, days: 30}]",
            json!([{ "event": "open", "equals": 0, "days": 90 }, { "event": "open", "equals": 0, "days": 30 }]),
            "the app is not opened for 30 days, the app is not opened for 90 days or the tag",
        ),
        ("historical_trigger: []", Value::Null, ""),
        ("constraint: []", Value::Null, ""),
        ("cancellation_trigger: []", Value::Null, ""),
        (
            "cancellation_trigger: {tag_added: bought}",
            json!({ "tag_added": "bought" }),
            "when the tag bought is added to a device, before it is sent",
        ),
        ("condition: [{or: [{tag: {tag_name: vip}}]}]", tag(json!({ "tag_name": "vip" })), "who tag vip"),
        ("condition: {or: [{tag: {tag_name: vip, group: device}}]}", tag(json!({ "tag_name": "vip" })), "tag vip"),
        (
            "condition: [{or: [{tag: {tag_name: vip, negated: true}}]}]",
            tag(json!({ "tag_name": "vip", "negated": true })),
            "tag vip",
        ),
        ("condition: [{or: [{tag: {tag_name: vip, negated: false}}]}]", tag(json!({ "tag_name": "vip" })), "tag vip"),
        (
            "condition: [{or: [{tag: {tag_name: vip, group: shop}}]}]",
            tag(json!({ "tag_name": "vip", "group": "shop" })),
            "vip",
        ),
        (
            "condition: [{or: [{tag: {tag_name: b}}, {tag: {tag_name: a}}, {tag: {tag_name: b}}]}]",
            json!([{ "or": [is("a"), is("b")] }]),
            "who tag a or tag b",
        ),
        (
            "condition: [{or: [{tag: {tag_name: b}}, {tag: {tag_name: c}}]}, {or: [{tag: {tag_name: a, negated: true}}]}, \
             {or: [{tag: {tag_name: c}}, {tag: {tag_name: b}}]}]",
            json!([{ "or": [{ "tag": { "tag_name": "a", "negated": true } }] }, { "or": [is("b"), is("c")] }]),
            "who",
        ),
        (&most, Value::from(true), "or tag t15 or 12 more conditions"),
        ("condition: []", Value::Null, ""),
        (
            &scheduled("local", "wait", &format!("[{}]", daypart(WORK, "{start: 09:00, end: '21:00'}"))),
            hours("local", "wait", work.clone()),
            "only Mon–Fri 09:00–21:00, recipients' local time; otherwise waits",
        ),
        // Other words for these hours.
        (
            &scheduled(
                "local",
                "wait",
                &format!(
                    "[{}, {}]",
                    daypart("friday, Thursday", "{start: '12:00', end: '21:00'}, {start: 09:00, end: '12:00:00'}"),
                    daypart("tuesday, monday, wednesday, monday", "{end: '21:00:00', start: '09:00:00'}"),
                ),
            ),
            hours("local", "wait", work),
            "only Mon–Fri 09:00–21:00, recipients' local time; otherwise waits",
        ),
        (
            &scheduled("utc", "cancel", &format!("[{}]", daypart("friday", "{preferred: '18:00'}"))),
            hours("utc", "cancel", evening),
            "only Fri at 18:00, UTC; otherwise not sent",
        ),
        (
            &scheduled(
                "utc",
                "wait",
                &format!(
                    "[{}, {}]",
                    daypart("sunday", "{start: '12:00', end: '23:59:59'}"),
                    daypart("monday", "{start: 00:00, end: 00:00:01}"),
                ),
            ),
            hours("utc", "wait", edges),
            "only Mon 00:00–00:00:01, Sun 12:00–23:59:59, UTC; otherwise waits",
        ),
        ("timing: {}", Value::Null, ""),
        ("activation_time: 2034-01-01T00:00:00", json!("2034-01-01T00:00:00"), "activation_time"),
        ("activation_time: 2034-01-01T09:30Z", json!("2034-01-01T09:30:00"), "2034-01-01T09:30:00"),
        ("activation_time: '2034-01-01T01:00:00+01:00'", json!("2034-01-01T00:00:00"), "2034-01-01T00:00:00"),
        ("deactivation_time: 2034-01-01T00:00:01", json!("2034-01-01T00:00:01"), "deactivation_time"),
    ] {
        let key = written.split(':').next().expect("a key");
        let project = Project::new(&with(written));
        let service = project.serve();
        let shown = project.good(&["plan"]).stdout;
        says(&on_one_line(&shown), &[words]);
        project.good(&["apply", "--yes"]);
        let pipeline = |service: &pushplan_testing::Service| service.get("/api/pipelines")["pipelines"][0][key].clone();
        let is_sent =
            |sent: &Value| *sent == wire || wire == true && sent[0]["or"].as_array().map(Vec::len) == Some(20);
        assert!(is_sent(&pipeline(&service)), "{written}: {}", pipeline(&service));
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        project.good(&["forget", "pipelines/cart"]);
        std::fs::remove_file(project.folder.path().join("messages.yaml")).expect("a file");
        project.good(&["pull", "--all"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        assert!(is_sent(&pipeline(&service)), "{written}: {}", pipeline(&service));
        drop(service);

        let folder = Folder::project(&with(written));
        folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
        let ran = folder.run(&["validate", "--format", "json"]);
        let refused = ran.stdout.contains("\"PL107\"");
        assert_eq!((refused, ran.code), (!wire.is_null(), if wire.is_null() { 0 } else { 3 }), "{written}\n{ran}");
    }
}

#[test]
fn wrong_values_are_reported() {
    let rate = |rate: &str| format!("constraint: [{{rate: {rate}}}]");
    let on = |days: &str, times: &str| scheduled("local", "wait", &format!("[{}]", daypart(days, times)));
    for (field, code, said) in [
        (rate("{pushes: 0, days: 1}"), "PL106", "it is at least 1"),
        (rate("{pushes: 1, hours: 0}"), "PL106", "`hours` of a limit is 1 to 72, not 0"),
        (rate("{pushes: 1, hours: 73}"), "PL106", "`hours` of a limit is 1 to 72, not 73"),
        (rate("{pushes: 1, days: 0}"), "PL106", "`days` of a limit is 1 to 90, not 0"),
        (rate("{pushes: 1, days: 91}"), "PL106", "`days` of a limit is 1 to 90, not 91"),
        (rate("{pushes: 1, lifetimes: 2}"), "PL106", "`lifetimes` of a limit is 1, not 2"),
        (rate("{pushes: 1}"), "PL106", "a limit needs a time"),
        (rate("{pushes: 1, hours: 1, days: 1}"), "PL106", "a limit has one time only"),
        (rate("{pushes: many, days: 1}"), "YM205", "expected a whole number"),
        (scheduled("local", "wait", "[]"), "PL110", "a schedule without dayparts has no time to send"),
        (on("", "{preferred: '18:00'}"), "PL110", "a daypart without days has no time to send"),
        (on("monday", ""), "PL110", "a daypart without times has no time to send"),
        (on("monday", "{start: 09:00, end: 09:00}"), "PL110", "the window from 09:00 to 09:00 is empty"),
        (on("monday", "{start: '21:00', end: 08:00}"), "PL110", "the window ends at 08:00, before it starts at 21:00"),
        (on("monday", "{start: 09:00}"), "PL110", "an allowed time has `start` and `end`, or `preferred`"),
        (
            on("monday", "{start: 09:00, end: '10:00', preferred: 09:30}"),
            "PL110",
            "an allowed time has `start` and `end`, or `preferred`",
        ),
        (
            on("monday", "{start: 09:00, end: '12:00'}, {start: '11:59', end: '13:00'}"),
            "PL110",
            "09:00–12:00 and 11:59–13:00 overlap on monday",
        ),
        (on("monday", "{start: 09:00, end: '12:00'}, {preferred: '11:00'}"), "PL110", "overlap on monday"),
        (
            scheduled(
                "utc",
                "wait",
                &format!(
                    "[{}, {}]",
                    daypart("monday, tuesday", "{preferred: '18:00'}"),
                    daypart("tuesday, friday", "{preferred: '18:00'}")
                ),
            ),
            "PL110",
            "at 18:00 and at 18:00 overlap on tuesday",
        ),
        (on("mon", "{preferred: '18:00'}"), "YM206", "write monday"),
        (on("mondya", "{preferred: '18:00'}"), "YM206", "did you mean monday?"),
        (on("monday", "{preferred: 9 p.m.}"), "SC106", "write 21:00"),
        (on("monday", "{start: 09:00, end: '24:00'}"), "SC106", "write 23:59:59"),
        (on("monday", "{from: 09:00, end: '24:00'}"), "YM201", "unknown key `from`"),
        (scheduled("locale", "wait", "[]"), "YM206", "did you mean \"local\"?"),
        (scheduled("local", "send", "[]"), "YM206", "expected \"wait\" or \"cancel\""),
        ("timing: {schedule: {type: local, dayparts: []}}".to_owned(), "YM203", "`miss_behavior` is missing"),
        (
            on("friday", "{preferred: '18:00'}")
                + "\n    activation_time: 2034-01-01T00:00:00\n    deactivation_time: 2034-01-05T12:00:00",
            "PL111",
            "none of these hours is before Thu 5 Jan 2034 12:00 UTC in any time zone",
        ),
        (inactive("open", 1, 30), "PL113", "`equals` of a historical trigger is 0, not 1"),
        (inactive("open", 0, 0), "PL113", "`days` of a historical trigger is 1 to 90, not 0"),
        (inactive("open", 0, 91), "PL113", "`days` of a historical trigger is 1 to 90, not 91"),
        (inactive("opened", 0, 30), "YM206", "did you mean \"open\"?"),
        ("historical_trigger: {event: open, equals: 0}".to_owned(), "YM203", "`days` is missing"),
        ("condition: [{or: []}]".to_owned(), "PL108", "a condition without tags never holds"),
        (tags(21), "PL108", "a condition has at most 20 tags, in all of its sets"),
        (
            tags(20).replace("}]}]", "}]}, {or: [{tag: {tag_name: b}}]}]"),
            "PL108",
            "a condition has at most 20 tags, in all of its sets",
        ),
        (
            "condition: [{or: [{tag: {tag_name: a}}]}, {or: []}]".to_owned(),
            "PL108",
            "a condition without tags never holds",
        ),
        ("condition: [{or: [{tag: {name: a}}]}]".to_owned(), "YM201", "unknown key `name`"),
        ("activation_time: soon".to_owned(), "SC106", "`soon` is not a time"),
        ("deactivation_time: 2034-13-01T00:00:00".to_owned(), "SC106", "is not a time"),
        (
            "activation_time: 2034-01-01T00:00:00\n    deactivation_time: 2034-01-01T00:00:00".to_owned(),
            "PL109",
            "becomes inactive before it becomes active",
        ),
    ] {
        let ran = Folder::project(&with(&field)).run(&["validate"]);
        assert_eq!(ran.code, 3, "{field}\n{ran}");
        says(&ran.stdout, &[&format!("error[{code}]"), said]);
    }
}

#[test]
fn a_looser_limit_is_shown_with_the_old_one() {
    let project = Project::new(&with("constraint: [{rate: {pushes: 1, days: 1}}]"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("pushes: 1, days: 1", "pushes: 2, hours: 12");
    says(
        &project.good(&["plan"]).stdout,
        &[
            "limit",
            "at most 1 push in 1 day to one device",
            "at most 2 pushes in 12 hours to one device",
            "is sent more often",
        ],
    );
}

/// Friday 18:00 comes 14 hours earlier in the first time zone than in UTC, and 12 hours later in the last one.
#[test]
fn hours_that_come_in_one_time_zone_are_enough() {
    for (days, is_wrong) in [("thursday", false), ("friday", false), ("saturday", true)] {
        let times = "\n    activation_time: 2034-01-05T14:00:00\n    deactivation_time: 2034-01-06T05:00:00";
        let hours = scheduled("local", "cancel", &format!("[{}]", daypart(days, "{preferred: '18:00'}")));
        let ran = Folder::project(&with(&(hours + times))).run(&["validate"]);
        assert_eq!(ran.stdout.contains("PL111"), is_wrong, "{days}\n{ran}");
    }
}

#[test]
fn changed_hours_are_shown_with_the_old_ones() {
    let on = |days: &str, miss: &str| {
        scheduled("local", miss, &format!("[{}]", daypart(days, "{start: 09:00, end: '21:00'}")))
    };
    let [wait, weekend, cancel, less] =
        [on(WORK, "wait"), on("sunday", "wait"), on(WORK, "cancel"), on("monday, friday", "cancel")];
    for (old, new, class, words) in [
        ("", &*wait, "time", "at another time: only Mon–Fri 09:00–21:00, recipients' local time; otherwise waits"),
        // Devices without a time zone join: they have no local time.
        (&*wait, "", "more", "is sent more often"),
        (&*wait, &*weekend, "time", "at another time: only Sun 09:00–21:00"),
        (&*wait, &*cancel, "fewer", "is sent less often"),
        (&*cancel, &*less, "fewer", "is sent less often"),
        (&*less, &*wait, "more", "is sent more often"),
    ] {
        let project = Project::new(&with(old));
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&with(new));
        let shown = on_one_line(&project.good(&["plan"]).stdout);
        says(&shown, &["hours ", words]);
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("a plan");
        assert_eq!(plan["messages"][0]["class"], class, "{old} becomes {new}\n{shown}");
    }
}

#[test]
fn a_condition_is_compared_like_an_audience() {
    let vip = "condition: [{or: [{tag: {tag_name: vip}}]}]";
    let either = "condition: [{or: [{tag: {tag_name: vip}}, {tag: {tag_name: buyer}}]}]";
    let not_vip = "condition: [{or: [{tag: {tag_name: vip, negated: true}}]}]";
    let both = "condition: [{or: [{tag: {tag_name: buyer}}]}, {or: [{tag: {tag_name: vip}}]}]";
    for (old, new, class, words) in [
        ("", vip, "fewer", "leaves, for example"),
        (vip, "", "more", "joins, for example"),
        (vip, either, "more", "joins, for example"),
        (either, vip, "fewer", "leaves, for example"),
        (vip, not_vip, "different", "joins, for example"),
        (vip, both, "fewer", "leaves, for example"),
        (both, vip, "more", "joins, for example"),
        (both, either, "more", "joins, for example"),
    ] {
        let project = Project::new(&with(old));
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&with(new));
        says(&project.good(&["plan"]).stdout, &["who ", "effect ", words]);
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("a plan");
        assert_eq!(plan["messages"][0]["class"], class, "{old} becomes {new}");
    }
}

/// The status is the service's own: it changes with the time, and is no drift.
#[test]
fn the_status_of_a_pipeline_is_no_drift() {
    let project = Project::new(&with("activation_time: 2034-01-01T00:00:00"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.get("/api/pipelines")["pipelines"][0]["status"], "pending");
    says(&project.good(&["drift"]).stdout, &["No drift"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}

/// A pipeline whose only trigger is inactivity.
#[test]
fn inactivity_can_be_the_only_trigger() {
    let only =
        |days: i64| with(&inactive("open", 0, days)).replace("    immediate_trigger: {tag_added: cart-left}\n", "");
    let project = Project::new(&only(30));
    let service = project.serve();
    let shown = project.good(&["plan"]).stdout;
    says(&on_one_line(&shown), &["when the app is not opened for 30 days, 1 hour later"]);
    project.good(&["apply", "--yes"]);
    let pipeline = &service.get("/api/pipelines")["pipelines"][0];
    assert_eq!((&pipeline["immediate_trigger"], &pipeline["historical_trigger"]["days"]), (&Value::Null, &json!(30)));
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    for (days, class) in [(14, "more"), (60, "fewer")] {
        project.write(&only(days));
        let shown = on_one_line(&project.good(&["plan"]).stdout);
        says(&shown, &[&format!("the app is not opened for {days} days"), "the app is not opened for 30 days"]);
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("a plan");
        assert_eq!(plan["messages"][0]["class"], class, "{shown}");
    }
    let none = with("").replace("    immediate_trigger: {tag_added: cart-left}\n", "");
    let ran = Folder::project(&none).run(&["validate"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["error[YM203]", "`immediate_trigger` is missing", "or `historical_trigger`"]);
}
