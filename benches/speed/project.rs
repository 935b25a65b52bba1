//! The projects that are measured: resources of all kinds, of about 20 lines each, in one file or in as many files.
//!
//! Each resource is one thing on the service, so that so many resources are so many creates. Their words are those of the
//! service wherever it has some, so that a script which sends them as they are makes the same.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// How many kinds take turns.
pub const KINDS: usize = 9;

/// How many resources a folder of many files has, as people keep them.
const PER_FOLDER: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    One,
    Many,
}

impl Layout {
    pub const ALL: [Self; 2] = [Self::One, Self::Many];

    pub fn words(self) -> &'static str {
        match self {
            Self::One => "one file",
            Self::Many => "many files",
        }
    }

    pub fn key(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Many => "many",
        }
    }
}

/// How a project is written.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    pub resources: usize,
    pub layout: Layout,
    /// Whether all that people read of the first template is still what it was before someone edited it.
    pub before: bool,
}

/// The id of the device of the named user of a round.
pub fn device(round: usize) -> String {
    format!("1c36e8c7-5a73-47c0-9716-{round:012}")
}

/// Writes a project beneath a folder, and says how many bytes of YAML it has.
pub fn write(folder: &Path, project_file: &str, wording: Wording) -> u64 {
    let all = (0..wording.resources).map(|n| resource(n, wording.before));
    write_all(folder, project_file, wording.layout, all)
}

/// Writes a project with these resources beneath a folder, and returns how many bytes of YAML it has.
pub fn write_all(
    folder: &Path,
    project_file: &str,
    layout: Layout,
    all: impl Iterator<Item = (&'static str, String)>,
) -> u64 {
    let messages = folder.join("messages");
    if messages.exists() {
        fs::remove_dir_all(&messages).expect("the manifests of before go");
    }
    fs::create_dir_all(&messages).expect("a folder");
    fs::write(folder.join("pushplan.toml"), project_file).expect("a project file");
    let mut bytes = 0;
    let mut put = |path: &Path, text: &str| {
        bytes += text.len() as u64;
        fs::write(path, text).expect("a manifest");
    };
    match layout {
        Layout::One => put(&messages.join("all.yaml"), &manifest(all)),
        Layout::Many => {
            for (n, (kind, text)) in all.enumerate() {
                let place = messages.join(format!("{:04}", n / PER_FOLDER));
                if n % PER_FOLDER == 0 {
                    fs::create_dir(&place).expect("a folder");
                }
                put(&place.join(format!("{n:06}.yaml")), &format!("{kind}:\n{text}"));
            }
        }
    }
    bytes
}

/// Resources as one manifest, kind by kind.
pub fn manifest(resources: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for (kind, text) in resources {
        match sections.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, section)) => section.push_str(&text),
            None => sections.push((kind, format!("{kind}:\n{text}"))),
        }
    }
    sections.into_iter().map(|(_, section)| section).collect()
}

/// A list with a line for each item.
fn lines(indent: usize, items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().fold(String::new(), |mut out, item| {
        let _ = writeln!(out, "{:indent$}- {item}", "");
        out
    })
}

/// One resource, and the key of its kind. The kinds take turns; those of one round name each other.
pub fn resource(n: usize, before: bool) -> (&'static str, String) {
    let m = n / KINDS;
    match n % KINDS {
        0 => ("tag_groups", tag_group(m)),
        1 => ("segments", segment(m)),
        2 => ("templates", template(m, if before && m == 0 { "is to bring" } else { "brings" })),
        3 => ("pipelines", pipeline(m)),
        4 => ("scheduled_pushes", scheduled_push(m)),
        5 => ("experiments", experiment(m)),
        6 => ("named_users", named_user(m)),
        7 => ("open_channels", open_channel(m)),
        _ => ("tags", tag(m)),
    }
}

/// Whether someone adds a resource, or takes it away, while all others are edited. No segment goes, nor a tag group:
/// others name them.
pub fn comes(n: usize) -> bool {
    n / KINDS % 5 == 1
}

pub fn goes(n: usize) -> bool {
    n / KINDS % 5 == 3 && matches!(n % KINDS, 2 | 4..=7)
}

/// The other device of a round, which its named user has after an edit.
pub fn other_device(round: usize) -> String {
    device(round).replacen('1', "2", 1)
}

/// One resource after someone edited it.
pub fn edited(n: usize) -> (&'static str, String) {
    let (m, (kind, text)) = (n / KINDS, resource(n, false));
    let later = time(m, 8).replace(":00", ":30");
    let edits: &[(&str, &str)] = match n % KINDS {
        0 => &[(&format!("          - vip-{m}\n"), &format!("          - rare-{m}\n"))],
        1 => &[("tag: US", "tag: MX")],
        2 => &[("here is", "now there is")],
        3 => &[("delay: 5400", "delay: 7200")],
        4 => &[(&time(m, 8), &later), ("begins now", "begins in an hour")],
        5 => &[("Come back to", "Come soon to")],
        6 => &[(&device(m), &other_device(m))],
        7 => &[("opt_in: true", "opt_in: false")],
        _ => &[("    # Read", &format!("    ios_channels:\n      - {}\n    # Read", device(m)))],
    };
    let edited = edits.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{kind} do not say {old}");
        text.replace(old, new)
    });
    (kind, edited)
}

fn tag_group(m: usize) -> String {
    let words =
        ["new", "buyer", "lapsed", "vip", "browser", "returning", "local", "press", "early", "late", "often", "rare"];
    let tags = lines(6, words.map(|word| format!("{word}-{m}")));
    let theirs = lines(10, ["buyer", "vip"].map(|word| format!("{word}-{m}")));
    format!(
        "  group-{m}:\n    description: What customers of region {m} like\n    tags:\n{tags}\
         \x20   members:\n      named_users:\n        user-{m}:\n{theirs}"
    )
}

fn segment(m: usize) -> String {
    format!(
        "  segment-{m}:
    display_name: Lapsed buyers of region {m}
    criteria:
      and:
        - tag: buyer-{m}
          group: group-{m}
        - tag: lapsed-{m}
          group: group-{m}
        - or:
            - tag: newsletter-{m}
            - tag: returning-{m}
              group: group-{m}
            - named_user: user-{m}
            - tag: US
              group: ua_locale_country
        - not:
            or:
              - tag: vip-{m}
                group: group-{m}
              - tag: fr
                group: ua_locale_language
"
    )
}

fn template(m: usize, does: &str) -> String {
    format!(
        "  template-{m}:
    description: This {does} people of region {m} back
    variables:
      - key: FIRST_NAME
        name: First name
        default_value: there
      - key: OFFER
        name: What they get
        default_value: \"10 %\"
    push:
      notification:
        alert: \"Hi {{{{FIRST_NAME}}}}, here is {{{{OFFER}}}} for you\"
        actions:
          open:
            type: url
            content: https://example.com/offers/{m}
          share: Look what I got in region {m}
    # Shown at the till as well.
    x-owner: Region {m}
"
    )
}

fn pipeline(m: usize) -> String {
    format!(
        "  pipeline-{m}:
    enabled: true
    immediate_trigger:
      tag_added:
        tag: new-{m}
        group: group-{m}
    outcome:
      delay: 5400
      push:
        audience: triggered
        device_types:
          - ios
          - android
        notification:
          alert: Still interested in region {m}?
          actions:
            open:
              type: url
              content: https://example.com/regions/{m}
            share: Look at this
"
    )
}

/// A time of its own for each: the first years have one on each hour of the day.
fn time(m: usize, hour: usize) -> String {
    let (hour, day, month) = ((m % 8) + hour, (m / 8) % 28 + 1, (m / 224) % 12 + 1);
    format!("{}-{month:02}-{day:02}T{hour:02}:00", 2036 + m / 2688)
}

fn scheduled_push(m: usize) -> String {
    format!(
        "  push-{m}:
    name: Sale of region {m}
    schedule:
      scheduled_time: {}
    push:
      audience:
        segment: segment-{m}
      device_types:
        - ios
        - android
      notification:
        alert: The sale of region {m} begins now
        actions:
          open:
            type: url
            content: https://example.com/sale/{m}
          share: I am at the sale of region {m}
    # Agreed with the shops.
    x-owner: Region {m}
",
        time(m, 8)
    )
}

fn experiment(m: usize) -> String {
    format!(
        "  experiment-{m}:
    description: Which words work in region {m}
    audience:
      tag: often-{m}
      group: group-{m}
    device_types:
      - ios
      - android
    variants:
      - push:
          notification:
            alert: Come back to region {m}
        schedule:
          scheduled_time: {0}
      - push:
          notification:
            alert: We miss you in region {m}
        schedule:
          scheduled_time: {0}
",
        time(m, 16)
    )
}

/// What a team notes beside things that have little to say to the service.
fn notes(m: usize) -> String {
    format!(
        "    x-notes:
      owner: Support of region {m}
      mail: support-{m}@example.com
      since: \"2025-03-01\"
      reviewed:
        - 2025-06-01
        - 2025-09-01
        - 2025-12-01
      reasons:
        - They test what we send before others get it
        - They tell us what does not arrive
      places:
        - shop
        - web
        - phone
"
    )
}

fn named_user(m: usize) -> String {
    format!("  user-{m}:\n    channels:\n      - channel_id: {}\n        device_type: ios\n{}", device(m), notes(m))
}

fn open_channel(m: usize) -> String {
    format!(
        "  channel-{m}:
    opt_in: true
    # Kept by the support team.
    address: \"+1 555 {m:07}\"
    tags:
      - region-{m}
      - sms
      - support-{m}
    timezone: Europe/Paris
    locale_country: FR
    locale_language: fr
    open:
      open_platform_name: sms
      identifiers:
        carrier: \"carrier-{m}\"
        number: \"+1 555 {m:07}\"
        region: \"{m}\"
    x-notes:
      owner: Support of region {m}
      mail: support-{m}@example.com
"
    )
}

fn tag(m: usize) -> String {
    format!("  tag-{m}:\n    tag: legacy-{m}\n    # Read by an app that is not kept up any more.\n{}", notes(m))
}
