//! The table of codes. All other layers depend on it, because each of them can have findings.
//!
//! A code is a row here and a page next to this file: `AU101.md` is the text of `pushplan explain AU101`, with a wrong
//! and a right sample that a test runs.

mod limits;

pub use limits::{AP101, AP102, AP103, AP104, AP105, LIMITED, LIMITS, Limit, limit};

/// The severity of a finding, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Warning,
    Error,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A type of finding: its name, its default severity and its title.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub severity: Severity,
    pub setting: Setting,
    pub title: &'static str,
    /// What `explain` prints, in Markdown.
    pub page: &'static str,
}

/// Whether a project may change the severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// It judges what was read, so a project or a resource can turn it off.
    Free,
    /// Something could not be read, or refers to nothing. If it were turned off, a file without an effect would pass.
    Fixed,
}

/// The families, in the order of the table: the first two letters of a code, and their meaning.
pub const FAMILIES: &[(&str, &str)] = &[
    ("YM", "YAML and shape"),
    ("RF", "references"),
    ("AU", "audiences"),
    ("MS", "messages"),
    ("SC", "schedules"),
    ("PL", "pipelines"),
    ("EX", "experiments"),
    ("TG", "tags"),
];

macro_rules! codes {
    ($($name:ident $severity:ident $setting:ident $title:literal)*) => {
        $(pub static $name: Code = Code {
            name: stringify!($name),
            severity: Severity::$severity,
            setting: Setting::$setting,
            title: $title,
            page: include_str!(concat!(stringify!($name), ".md")),
        };)*

        /// Every code, by family and number.
        pub static CODES: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    YM101 Error Fixed "the file is not valid YAML"
    YM102 Error Fixed "a map has the same key twice"
    YM103 Error Fixed "a value has a YAML tag"
    YM104 Error Fixed "an alias cannot be followed"
    YM105 Error Fixed "the file is nested too deeply"
    YM106 Error Fixed "the file or a value in it is too large"
    YM107 Error Fixed "the file is not UTF-8 text"
    YM108 Error Fixed "a tab is used for indentation"
    YM109 Error Fixed "a placeholder needs quotes"
    YM110 Error Fixed "a key is not plain text"
    YM111 Error Fixed "typographic quotes are not YAML quotes"
    YM112 Error Fixed "a special space is used instead of a plain space"
    YM201 Error Fixed "the key is unknown"
    YM202 Warning Free "the contract does not describe this field"
    YM203 Error Fixed "a required key is missing"
    YM204 Error Fixed "a text needs quotes"
    YM205 Error Fixed "the value has the wrong shape"
    YM206 Error Fixed "the value is not allowed here"
    YM207 Error Fixed "the value is empty"
    YM208 Error Fixed "a resource's key has characters other than letters, digits, -, _ and ."
    YM209 Error Fixed "a resource's key begins with x-"
    YM301 Error Fixed "the project file is not valid TOML"
    YM302 Error Fixed "a file or folder cannot be read"
    YM303 Error Fixed "a target's name has characters other than letters, digits, -, _ and ."
    YM304 Error Fixed "a target with a base_url does not name its ledger"
    RF101 Error Fixed "no segment has this key"
    RF102 Error Fixed "no template has this key"
    RF103 Error Free "no tag group has this key"
    RF104 Error Fixed "no variable has this name"
    RF105 Error Fixed "a resource is declared twice"
    RF106 Error Fixed "a file is outside the project or hidden"
    RF107 Error Fixed "a file is reached through a symbolic link"
    RF108 Error Fixed "a file named in a manifest cannot be read"
    RF109 Error Fixed "no target has this name"
    RF110 Error Fixed "segments refer to each other in a circle"
    RF111 Error Fixed "a default is set twice"
    RF112 Error Fixed "the syntax of a variable is wrong"
    RF113 Error Free "an overlay for something that is not declared"
    RF114 Warning Free "lifecycle.ignore names a field that does not exist"
    RF115 Error Fixed "renamed_from names a key that is still in use"
    RF116 Error Fixed "the target matrix is invalid"
    RF117 Error Fixed "a group of targets is invalid"
    RF118 Error Fixed "locales names no folder of message catalogues"
    RF119 Error Fixed "the name of a message catalogue is not a locale"
    RF120 Error Fixed "a message catalogue has a text that no message reads"
    AU101 Error Free "a version tag does not have the form 8.3.X"
    AU102 Warning Free "the service lists no such version"
    AU103 Warning Free "the service lists no such model"
    AU104 Error Free "the service has no such time zone tag"
    AU105 Warning Free "the service spells this time zone America/Sao_Paolo"
    AU106 Error Free "not an ISO 639-1 language code"
    AU107 Error Free "not an ISO 3166-1 country code"
    AU108 Error Free "the special tag for an unknown value is misspelled"
    AU109 Error Fixed "a YAML boolean where the service expects a text"
    AU110 Error Free "the group has only the tags true and false"
    AU111 Error Free "a tag group of one platform in a push to another platform"
    AU112 Error Free "a channel's platform is not among the device types"
    AU113 Error Free "all and triggered cannot be combined with conditions"
    AU114 Error Free "location tags exist only from SDK 6.0"
    AU115 Error Fixed "an empty list of conditions"
    AU116 Error Fixed "several conditions without and/or"
    AU117 Error Free "more conditions than the service accepts"
    AU118 Error Free "triggered is used outside a pipeline"
    AU119 Error Free "the conditions exclude each other"
    AU120 Warning Free "the conditions exclude nobody"
    AU121 Error Free "an app version has an operator or a wildcard, but is compared as text"
    MS101 Error Free "a placeholder is not declared"
    MS102 Warning Free "a variable is never used"
    MS103 Error Free "a variable has neither default nor substitution"
    MS104 Warning Free "Message Center does not reach this device type"
    MS105 Error Free "Message Center cannot be pushed to WNS"
    MS106 Warning Free "the text does not fit an iPhone lock screen"
    MS107 Warning Free "the text does not fit Android's collapsed line"
    MS108 Warning Free "the text holds invisible control characters"
    MS109 Error Free "the button does not belong to the interactive type"
    MS110 Error Free "the URL is not http or https"
    MS111 Warning Free "overrides for a device type that does not get the push"
    MS112 Error Free "a template variable's key has a wrong form"
    MS113 Error Free "the message is too large for the service"
    MS114 Error Free "a substitution for a variable that the template lacks"
    MS115 Error Free "a template variable is declared twice"
    MS116 Error Free "the message says nothing"
    MS117 Warning Free "a sample in previews sets no variable, or an unknown one"
    MS118 Warning Free "the text is not in the language of the audience"
    MS119 Warning Free "the host of a link looks like another host"
    MS120 Error Free "the API of the target does not have this field"
    MS121 Warning Free "the project does not declare the scheme of a deep link"
    MS122 Error Free "a localization without a locale, or two for one locale"
    MS123 Warning Free "a localization lacks a placeholder of the common text"
    MS124 Warning Free "the text of a localization equals the common text"
    MS125 Warning Free "no device of the audience can have the locale of a localization"
    MS126 Warning Free "a language of the audience has no text"
    SC101 Warning Free "the time has passed"
    SC102 Error Fixed "the time does not exist in its zone"
    SC103 Error Fixed "the time exists twice in its zone"
    SC104 Warning Free "the time is in quiet hours"
    SC105 Error Fixed "the time has an offset, or seconds that cannot be sent"
    SC106 Error Fixed "not a valid time or time zone"
    SC107 Warning Free "a schedule has the same time twice"
    SC108 Warning Free "two messages to one person are too close together"
    SC109 Warning Free "the recipients' local time does not exist, or exists twice"
    SC110 Warning Free "the text does not match the day or hour of the send time"
    SC111 Warning Free "a date in the text is past, or falls on another day of the week"
    PL101 Error Free "a pipeline has an audience other than triggered"
    PL102 Error Free "the delay is not positive"
    PL103 Warning Free "nothing in the project adds the trigger's tag"
    PL104 Warning Free "pipelines trigger each other in a circle"
    PL105 Warning Free "several enabled pipelines have the same trigger"
    PL106 Error Fixed "a limit on the messages of a pipeline is outside its range"
    PL107 Error Fixed "the pipeline has fields that the target does not support"
    PL108 Error Fixed "a condition of a pipeline has no tag, or too many"
    PL109 Error Free "the pipeline becomes inactive before it becomes active"
    PL110 Error Fixed "the hours of a pipeline cannot be kept"
    PL111 Error Free "the hours of a pipeline never come while it is active"
    PL112 Warning Free "the pipeline can send in quiet hours"
    PL113 Error Fixed "a historical trigger of a pipeline is outside its range"
    EX101 Error Free "two variants are the same"
    EX102 Error Free "a variant has no schedule and would be sent at once"
    EX103 Error Free "an experiment has fewer than 2 or more than 26 variants"
    EX104 Error Fixed "the control group is not a share from 0 to below 1"
    EX105 Error Fixed "the weight of a variant is not a whole number of at least 1"
    EX106 Error Fixed "the experiment has fields that the target does not support"
    TG101 Error Free "the tag is not in the group's vocabulary"
    TG102 Error Free "the tag group belongs to the service"
    TG103 Error Free "a tag is empty or longer than 128 characters"
    TG104 Error Free "more than 100 tags of one group for one member"
    TG105 Error Free "a named user's id is empty, too long, or has white space at its ends"
    TG106 Error Free "a named user has more than 100 channels"
    TG107 Error Free "a channel has more than 1,000 tags"
    TG108 Warning Free "a named user without channels gets nothing"
}

impl Code {
    /// Whether a project or a resource may turn it off.
    pub fn is_free(&self) -> bool {
        self.setting == Setting::Free
    }
}

/// Returns the code with this name, ignoring case.
pub fn code(name: &str) -> Option<&'static Code> {
    CODES.iter().copied().find(|code| code.name.eq_ignore_ascii_case(name))
}
