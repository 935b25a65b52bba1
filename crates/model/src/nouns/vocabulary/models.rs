//! The iOS model tags, and the segments that group related models.

/// One iOS model tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The tag, such as `iPad2,1`.
    pub tag: &'static str,
    /// The name the dashboard shows, such as `iPad 2 (Wifi)`.
    pub name: &'static str,
}

/// A common segment: an OR of related model tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSegment {
    /// The name without its suffix, such as `iPad 2`.
    pub name: &'static str,
    /// Every model tag of the segment.
    pub tags: &'static [&'static str],
}

/// How the display name of every common segment ends.
const SEGMENT_SUFFIX: &str = " - UA Generated";

impl ModelSegment {
    /// The display name, such as `iPad 2 - UA Generated`.
    pub fn display_name(&self) -> String {
        format!("{}{SEGMENT_SUFFIX}", self.name)
    }
}

/// Finds a model by its tag.
pub fn model(tag: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.tag == tag)
}

/// One row of the model table, in the order the contract writes it.
const fn row(name: &'static str, tag: &'static str) -> Model {
    Model { tag, name }
}

/// One row of the segment table.
const fn segment(name: &'static str, tags: &'static [&'static str]) -> ModelSegment {
    ModelSegment { name, tags }
}

/// Every iOS model, in the order of the contract.
pub static MODELS: &[Model] = &[
    row("32-bit Simulator", "i386"),
    row("64-bit Simulator", "x86_64"),
    row("iPod Touch 1", "iPod1,1"),
    row("iPod Touch 2", "iPod2,1"),
    row("iPod Touch 3", "iPod3,1"),
    row("iPod Touch 4", "iPod4,1"),
    row("iPod Touch 5", "iPod5,1"),
    row("iPhone", "iPhone1,1"),
    row("iPhone 3G", "iPhone1,2"),
    row("iPhone 3GS", "iPhone2,1"),
    row("iPad 1", "iPad1,1"),
    row("iPad 2 (Wifi)", "iPad2,1"),
    row("iPad 2 (Wifi/GSM)", "iPad2,2"),
    row("iPad 2 (Wifi/CDMA)", "iPad2,3"),
    row("iPad 2 (Wifi 16GB)", "iPad2,4"),
    row("iPad Mini (Wifi)", "iPad2,5"),
    row("iPad Mini (Wifi/GSM)", "iPad2,6"),
    row("iPad Mini (Wifi/CDMA)", "iPad2,7"),
    row("iPad 3 (Wifi)", "iPad3,1"),
    row("iPad 3 (Wifi/CDMA)", "iPad3,2"),
    row("iPad 3 (Wifi/GSM)", "iPad3,3"),
    row("iPad 4 (Wifi)", "iPad3,4"),
    row("iPad 4 Gen (Wifi/GSM)", "iPad3,5"),
    row("iPad 4 Gen (Wifi/CDMA)", "iPad3,6"),
    row("iPad Air (Wifi)", "iPad4,1"),
    row("iPad Air (Wifi/Cellular)", "iPad4,2"),
    row("iPad Air (Wifi/Cellular China)", "iPad4,3"),
    row("iPad Mini 2 (Wifi)", "iPad4,4"),
    row("iPad Mini 2 (Wifi/Cellular)", "iPad4,5"),
    row("iPad Mini 2 (Wifi/Cellular China)", "iPad4,6"),
    row("iPad Mini 3 (Wifi)", "iPad4,7"),
    row("iPad Mini 3 (Wifi/Cellular)", "iPad4,8"),
    row("iPad Mini 3 (Wifi/Cellular China)", "iPad4,9"),
    row("iPad Air 2 (Wifi)", "iPad5,3"),
    row("iPad Air 2 (Wifi/Cellular)", "iPad5,4"),
    row("iPhone 4 (GSM)", "iPhone3,1"),
    row("iPhone 4 (CDMA)", "iPhone3,3"),
    row("iPhone 4S", "iPhone4,1"),
    row("iPhone 5 (GSM)", "iPhone5,1"),
    row("iPhone 5 (CDMA)", "iPhone5,2"),
    row("iPhone 5c (CDMA/GSM)", "iPhone5,3"),
    row("iPhone 5c (EMEA)", "iPhone5,4"),
    row("iPhone 5s (CDMA/GSM)", "iPhone6,1"),
    row("iPhone 5s (EMEA)", "iPhone6,2"),
    row("iPhone 6 Plus", "iPhone7,1"),
    row("iPhone 6", "iPhone7,2"),
];

/// Every common segment, in the order of the contract.
pub static COMMON_SEGMENTS: &[ModelSegment] = &[
    segment("iPad 2", &["iPad2,1", "iPad2,2", "iPad2,3", "iPad2,4"]),
    segment("iPad Mini", &["iPad2,5", "iPad2,6", "iPad2,7"]),
    segment("iPad 3", &["iPad3,1", "iPad3,2", "iPad3,3"]),
    segment("iPad 4", &["iPad3,4", "iPad3,5", "iPad3,6"]),
    segment("iPad Air", &["iPad4,1", "iPad4,2", "iPad4,3"]),
    segment("iPad Mini 2", &["iPad4,4", "iPad4,5", "iPad4,6"]),
    segment("iPad Mini 3", &["iPad4,7", "iPad4,8", "iPad4,9"]),
    segment("iPad Air 2", &["iPad5,3", "iPad5,4"]),
    segment("iPhone 4", &["iPhone3,1", "iPhone3,3"]),
    segment("iPhone 5", &["iPhone5,1", "iPhone5,2"]),
    segment("iPhone 5c", &["iPhone5,3", "iPhone5,4"]),
    segment("iPhone 5s", &["iPhone6,1", "iPhone6,2"]),
];
