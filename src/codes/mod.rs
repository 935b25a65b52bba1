//! The table of codes. It stands before all other layers, since every one of them can find something wrong.
//!
//! A code is a row here and a page beside this file: `AU101.md` holds what `pushplan explain AU101` prints, with a wrong
//! and a right sample that a test runs.

use crate::finding::Severity;

/// One kind of finding: its name, its usual weight and what it is about.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub severity: Severity,
    pub title: &'static str,
    /// What `explain` prints, in Markdown.
    pub page: &'static str,
}

/// The families, in the order of the table: the first two letters of a code, and what they stand for.
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
    ($($name:ident $severity:ident $title:literal)*) => {
        $(pub static $name: Code = Code {
            name: stringify!($name),
            severity: Severity::$severity,
            title: $title,
            page: include_str!(concat!(stringify!($name), ".md")),
        };)*

        /// Every code there is, by family and number.
        pub static CODES: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    YM101 Error "the file is not valid YAML"
    YM102 Error "a key stands twice in one map"
    YM103 Error "YAML tags are not used in manifests"
    YM104 Error "an alias cannot be followed"
    YM105 Error "the file is nested too deeply"
    YM106 Error "the file or a value in it is too large"
    YM107 Error "the file is not UTF-8 text"
    YM108 Error "a tab is used for indentation"
    YM109 Error "a placeholder stands without quotes"
    YM110 Error "a key is not plain text"
    YM111 Error "typographic quotes are not YAML quotes"
    YM112 Error "a blank is not a plain space"
    YM201 Error "the key is not known here"
    YM202 Warning "the contract does not describe this field"
    YM203 Error "a required key is missing"
    YM204 Error "a text needs quotes"
    YM205 Error "the value has the wrong shape"
    YM206 Error "the value is not one that can stand here"
    YM207 Error "the value is empty"
    YM208 Error "a resource's key has other characters than letters, digits, -, _ and ."
    YM301 Error "the project file is not valid TOML"
    YM302 Error "a file or folder cannot be read"
    RF101 Error "no segment has this name"
    RF102 Error "no template has this name"
    RF103 Error "no tag group has this name"
    RF104 Error "no variable has this name"
    RF105 Error "the same resource stands in two places"
    RF106 Error "a file lies outside the project"
    RF107 Error "a file is reached through a symbolic link"
    RF108 Error "a file that the manifest names cannot be read"
    RF109 Error "no target has this name"
    RF110 Error "segments refer to each other in a circle"
    RF111 Error "a default is given twice"
    RF112 Error "a variable is written wrongly"
    AU101 Error "a version tag does not have the form 8.3.X"
    AU102 Warning "the service lists no such version"
    AU103 Warning "the service lists no such model"
    AU104 Error "the service has no such time zone tag"
    AU105 Warning "Sao Paulo has two spellings"
    AU106 Error "not an ISO 639-1 language code"
    AU107 Error "not an ISO 3166-1 country code"
    AU108 Error "the wrong word for an unknown value"
    AU109 Error "a YAML boolean where the service has a text"
    AU110 Error "the group has only the tags true and false"
    AU111 Error "a group of one platform in a push to another"
    AU112 Error "a channel's platform is not among the device types"
    AU113 Error "all and triggered stand alone"
    AU114 Warning "location tags exist only from SDK 6.0"
    AU115 Error "an empty list of conditions"
    AU116 Error "several conditions without and/or"
    AU117 Error "more selectors than the service takes"
    AU118 Error "triggered works in pipelines only"
    MS101 Error "a placeholder is not declared"
    MS102 Warning "a variable is never used"
    MS103 Error "a variable has neither default nor substitution"
    MS104 Warning "Message Center does not reach this device type"
    MS105 Error "Message Center cannot be pushed to WNS"
    MS106 Warning "the text does not fit an iPhone lock screen"
    MS107 Warning "the text does not fit Android's collapsed line"
    MS108 Warning "the text holds invisible control characters"
    MS109 Error "the button does not belong to the interactive type"
    MS110 Error "the URL is not http or https"
    MS111 Warning "web overrides without web among the device types"
    MS112 Error "a template variable's key has a wrong form"
    MS113 Error "the message is larger than the service takes"
    MS114 Error "a substitution for a variable that the template lacks"
    MS115 Error "a template variable is declared twice"
    SC101 Warning "the time has passed"
    SC102 Error "the time does not exist in its zone"
    SC103 Error "the time exists twice in its zone"
    SC104 Warning "the time lies in quiet hours"
    SC105 Error "the time has seconds or an offset"
    SC106 Error "not a time or time zone"
    PL101 Error "a pipeline's audience is always triggered"
    PL102 Error "the delay is not positive"
    PL103 Warning "nothing in the project adds the trigger's tag"
    PL104 Warning "pipelines set each other off in a circle"
    PL105 Warning "several enabled pipelines start on one trigger"
    EX101 Error "two variants are the same"
    EX102 Error "a variant without a schedule is sent at once"
    EX103 Error "an experiment has 2 to 26 variants"
    TG101 Error "the tag is not in the group's vocabulary"
    TG102 Error "names beginning with ua_ belong to the service"
    TG103 Error "a tag has 1 to 128 characters"
    TG104 Error "more than 100 tags of one group for one member"
    TG105 Error "a named user's id has 1 to 128 characters and no white space at its ends"
    TG106 Error "a named user has at most 100 channels"
    TG107 Error "a channel has at most 1,000 tags"
}

/// The code of that name, in any letter case.
pub fn code(name: &str) -> Option<&'static Code> {
    CODES.iter().copied().find(|code| code.name.eq_ignore_ascii_case(name))
}
