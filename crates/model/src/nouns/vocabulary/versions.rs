//! The version tags of SDKs and platforms. Each covers every patch of one minor version.

/// One version tag and the releases it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The tag, such as `8.3.X`.
    pub tag: &'static str,
    /// The code name. Only Android platform versions have one.
    pub name: Option<&'static str>,
    /// The first release covered.
    pub first: &'static str,
    /// The last release covered. It equals `first` when there is only one.
    pub last: &'static str,
}

/// The tag the author of this text probably meant.
///
/// `8.3`, `8.3.1` and `8.3.x` all give `8.3.X`. The answer need not be in any table.
/// There is none unless the text starts with a numeric major and minor version.
pub fn family(text: &str) -> Option<String> {
    let (major, rest) = text.split_once('.')?;
    let (minor, patch) = match rest.split_once('.') {
        Some((minor, patch)) => (minor, Some(patch)),
        None => (rest, None),
    };
    let patch_fits =
        patch.is_none_or(|patch| matches!(patch, "x" | "X" | "*") || patch.starts_with(|c: char| c.is_ascii_digit()));
    let fits = is_number(major) && is_number(minor) && patch_fits;
    fits.then(|| format!("{major}.{minor}.X"))
}

/// Whether the tag has the form `#.#.X`, with a capital X.
pub fn is_well_formed(tag: &str) -> bool {
    tag.strip_suffix(".X")
        .and_then(|numbers| numbers.split_once('.'))
        .is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// Whether the text is a decimal number without leading zeros.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'))
}

/// A tag that covers a range of releases.
const fn range(tag: &'static str, first: &'static str, last: &'static str) -> Version {
    Version { tag, name: None, first, last }
}

/// A tag that covers one release.
const fn only(tag: &'static str, release: &'static str) -> Version {
    range(tag, release, release)
}

/// Adds a code name to a tag.
const fn named(name: &'static str, version: Version) -> Version {
    Version { name: Some(name), ..version }
}

/// iOS SDK versions, in the order of the contract.
pub static IOS_SDK: &[Version] = &[
    range("1.0.X", "1.0.0", "1.0.7"),
    range("1.1.X", "1.1.0", "1.1.5"),
    range("1.2.X", "1.2.0", "1.2.2"),
    range("1.3.X", "1.3.0", "1.3.7"),
    only("1.4.X", "1.4.0"),
    range("2.0.X", "2.0.0", "2.0.4"),
    only("2.1.X", "2.1.0"),
    range("3.0.X", "3.0.0", "3.0.4"),
    range("4.0.X", "4.0.0", "4.0.4"),
    range("5.0.X", "5.0.0", "5.0.3"),
    range("5.1.X", "5.1.0", "5.1.1"),
    range("6.0.X", "6.0.0", "6.0.2"),
    only("6.1.X", "6.1.0"),
];

/// Android SDK versions, in the order of the contract.
pub static ANDROID_SDK: &[Version] = &[
    only("0.9.X", "0.9.1"),
    range("1.0.X", "1.0.0", "1.0.9"),
    range("1.1.X", "1.1.0", "1.1.6"),
    range("2.0.X", "2.0.0", "2.0.5"),
    range("2.1.X", "2.1.0", "2.1.4"),
    only("3.0.X", "3.0.0"),
    only("3.1.X", "3.1.0"),
    range("3.2.X", "3.2.0", "3.2.3"),
    range("3.3.X", "3.3.0", "3.3.2"),
    range("4.0.X", "4.0.0", "4.0.4"),
    range("5.0.X", "5.0.0", "5.0.3"),
    range("5.1.X", "5.1.0", "5.1.6"),
    range("6.0.X", "6.0.0", "6.0.2"),
    only("6.1.X", "6.1.0"),
];

/// iOS platform versions, in the order of the contract.
pub static IOS: &[Version] = &[
    range("1.0.X", "1.0", "1.0.2"),
    range("1.1.X", "1.1", "1.1.5"),
    range("2.0.X", "2.0", "2.0.2"),
    only("2.1.X", "2.1"),
    range("2.2.X", "2.2", "2.2.1"),
    range("3.0.X", "3.0", "3.0.1"),
    range("3.1.X", "3.1", "3.1.3"),
    range("3.2.X", "3.2", "3.2.2"),
    range("4.0.X", "4.0", "4.0.2"),
    only("4.1.X", "4.1"),
    range("4.2.X", "4.2.1", "4.2.10"),
    range("4.3.X", "4.3", "4.3.5"),
    range("5.0.X", "5.0", "5.0.1"),
    range("5.1.X", "5.1", "5.1.1"),
    range("6.0.X", "6.0", "6.0.2"),
    range("6.1.X", "6.1", "6.1.6"),
    range("7.0.X", "7.0", "7.0.6"),
    range("7.1.X", "7.1", "7.1.2"),
    range("8.0.X", "8.0", "8.0.2"),
    range("8.1.X", "8.1", "8.1.3"),
    only("8.2.X", "8.2"),
    only("8.3.X", "8.3"),
];

/// Android platform versions, in the order of the contract.
pub static ANDROID: &[Version] = &[
    named("Cupcake", only("1.5.X", "1.5")),
    named("Donut", only("1.6.X", "1.6")),
    named("Eclair", range("2.0.X", "2.0", "2.0.1")),
    named("Eclair", only("2.1.X", "2.1")),
    named("Froyo", range("2.2.X", "2.2", "2.2.3")),
    named("Gingerbread", range("2.3.X", "2.3", "2.3.7")),
    named("Honeycomb", only("3.0.X", "3.0")),
    named("Honeycomb", only("3.1.X", "3.1")),
    named("Honeycomb", range("3.2.X", "3.2", "3.2.6")),
    named("Ice Cream Sandwich", range("4.0.X", "4.0", "4.0.4")),
    named("Jelly Bean", range("4.1.X", "4.1", "4.1.2")),
    named("Jelly Bean", range("4.2.X", "4.2", "4.2.2")),
    named("Jelly Bean", range("4.3.X", "4.3", "4.3.1")),
    named("KitKat", range("4.4.X", "4.4", "4.4.4")),
    named("Lollipop", range("5.0.X", "5.0", "5.0.2")),
    named("Lollipop", range("5.1.X", "5.1", "5.1.1")),
];
