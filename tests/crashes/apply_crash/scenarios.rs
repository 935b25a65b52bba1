//! The projects that are applied under faults.

/// A project before and after an edit, and the final content of the service.
pub struct Scenario {
    pub api: &'static str,
    pub project: &'static str,
    pub before: &'static str,
    pub after: &'static str,
    /// Creating requests, by path, with the number that the plan contains.
    pub made: &'static [(&'static str, usize)],
    /// The names that exist, each once: path, list, field, names.
    pub there: &'static [(&'static str, &'static str, &'static str, &'static [&'static str])],
}

/// With only the documented API, segments are replaced: `vip`, and `both`, which names it.
pub const REPLACING: Scenario = Scenario {
    api: "documented",
    project: "[targets.local]\napi = \"documented\"\nsettle = \"1s\"\nsend_within = \"1s\"\n",
    before: "\
segments:
  vip: {criteria: {tag: vip}}
  both: {criteria: {and: [{segment: vip}, {tag: new}]}}
  old: {criteria: {tag: old}}
templates:
  hello: {push: {notification: {alert: Hi}}}
  gone: {push: {notification: {alert: Bye}}}
tag_groups:
  loyalty:
    tags: [gold, silver]
    members: {named_users: {u-1: [gold], u-2: [silver]}}
open_channels:
  chat: {opt_in: true, open: {open_platform_name: sms}}
",
    after: "\
segments:
  vip: {criteria: {tag: very-important}}
  both: {criteria: {and: [{segment: vip}, {tag: new}]}}
  fresh: {criteria: {not: {segment: vip}}}
templates:
  hello: {push: {notification: {alert: Hello}}}
  more: {push: {notification: {alert: More}}}
pipelines:
  welcome:
    enabled: false
    immediate_trigger: first_open
    outcome: {push: {device_types: all, notification: {alert: Welcome}}}
tag_groups:
  loyalty:
    tags: [gold, silver]
    members: {named_users: {u-1: [silver], u-3: [gold]}}
open_channels:
  chat: {opt_in: false, open: {open_platform_name: sms}}
",
    made: &[("/api/segments", 3), ("/api/templates", 1), ("/api/pipelines", 1)],
    there: &[
        ("/api/segments", "segments", "display_name", &["both", "fresh", "vip"]),
        ("/api/templates", "templates", "name", &["hello", "more"]),
        ("/api/pipelines?enabled=false", "pipelines", "name", &["welcome"]),
    ],
};

/// Resources that send messages by themselves and that the service lists: never sent twice. The experiment `colour` is
/// replaced.
pub const SENDING: Scenario = Scenario {
    api: "extended",
    project: "[targets.local]\napi = \"extended\"\nsettle = \"1s\"\nsend_within = \"1s\"\n",
    before: "\
segments:
  vip: {criteria: {tag: vip}}
scheduled_pushes:
  sale: {schedule: {scheduled_time: 2040-01-01T09:00}, push: {audience: {segment: vip}, device_types: all, notification: {alert: Sale}}}
  gone: {schedule: {scheduled_time: 2040-01-02T09:00}, push: {audience: {tag: x}, device_types: all, notification: {alert: Gone}}}
experiments:
  colour:
    audience: {segment: vip}
    device_types: all
    variants:
      - {push: {notification: {alert: Red}}, schedule: {scheduled_time: 2040-01-03T09:00}}
      - {push: {notification: {alert: Blue}}, schedule: {scheduled_time: 2040-01-03T09:00}}
",
    after: "\
segments:
  vip: {criteria: {tag: very-important}}
scheduled_pushes:
  sale: {schedule: {scheduled_time: 2040-02-01T09:00}, push: {audience: {segment: vip}, device_types: all, notification: {alert: Sale}}}
  fresh: {schedule: {scheduled_time: 2040-02-02T09:00}, push: {audience: {segment: vip}, device_types: all, notification: {alert: New}}}
experiments:
  colour:
    audience: {segment: vip}
    device_types: all
    variants:
      - {push: {notification: {alert: Green}}, schedule: {scheduled_time: 2040-01-03T09:00}}
      - {push: {notification: {alert: Blue}}, schedule: {scheduled_time: 2040-01-03T09:00}}
  words:
    audience: {tag: x}
    device_types: all
    variants:
      - {push: {notification: {alert: Long}}, schedule: {scheduled_time: 2040-01-04T09:00}}
      - {push: {notification: {alert: Short}}, schedule: {scheduled_time: 2040-01-04T09:00}}
",
    made: &[("/api/segments", 0), ("/api/schedules", 1), ("/api/experiments", 2)],
    there: &[
        ("/api/segments", "segments", "display_name", &["vip"]),
        ("/api/schedules", "schedules", "name", &["fresh", "sale"]),
        ("/api/experiments", "experiments", "name", &["colour", "words"]),
    ],
};
