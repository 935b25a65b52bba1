//! The places where a notification first appears.

use std::borrow::Cow;

use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::text;

use super::clusters::{characters, cut};

/// The maximal length of a platform's name next to its text.
const NAME: usize = 40;

/// A place where a notification first appears, and its number of columns. A wide character takes two.
#[derive(Debug)]
pub struct Screen {
    pub device: DeviceType,
    /// `iPhone lock screen`
    pub name: &'static str,
    /// The name within a sentence: `an iPhone's lock screen`
    pub place: &'static str,
    /// `None` if no limit is known.
    pub columns: Option<usize>,
    /// The number of visible lines of a text with several.
    lines: Option<usize>,
}

static SCREENS: [Screen; 3] = [
    Screen {
        device: DeviceType::Ios,
        name: "iPhone lock screen",
        place: "an iPhone's lock screen",
        columns: Some(178),
        lines: Some(4),
    },
    Screen {
        device: DeviceType::Android,
        name: "Android collapsed",
        place: "Android's collapsed line",
        columns: Some(45),
        lines: Some(1),
    },
    Screen {
        device: DeviceType::Web,
        name: "browser notification",
        place: "a browser's notification",
        columns: None,
        lines: None,
    },
];

/// The screens on which a text can appear; all of them for a template.
pub fn screens(devices: Option<&DeviceTypes>) -> impl Iterator<Item = &'static Screen> {
    SCREENS.iter().filter(move |screen| devices.is_none_or(|devices| devices.includes(&screen.device)))
}

/// The part of a text that a screen shows before a tap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// `iPhone lock screen`; `open::sms` if the screen is unknown.
    pub screen: Cow<'static, str>,
    pub device: DeviceType,
    /// The visible text, with `…` if it is cut.
    pub shown: String,
    /// Whether that is all of the text.
    pub whole: bool,
    /// The number of visible characters as readers count them.
    pub characters: usize,
}

impl Screen {
    /// The visible part of a text; `None` if all of it fits.
    pub fn cut<'t>(&self, text: &'t str) -> Option<&'t str> {
        let lines = self.lines.and_then(|lines| text.match_indices('\n').nth(lines - 1)).map(|(end, _)| &text[..end]);
        let cut = self.columns.and_then(|columns| cut(lines.unwrap_or(text), columns));
        cut.or(lines.map(str::trim_end))
    }

    fn fit(&self, text: &str) -> Fit {
        fit(self.name.into(), self.device.clone(), text, self.cut(text))
    }
}

fn fit(screen: Cow<'static, str>, device: DeviceType, text: &str, cut: Option<&str>) -> Fit {
    let kept = cut.unwrap_or(text);
    let shown = if cut.is_some() { format!("{kept}…") } else { kept.to_owned() };
    Fit { screen, device, shown, whole: cut.is_none(), characters: characters(kept) }
}

/// The visible part of a text on each screen. Named device types with unknown screens show all of it.
pub fn fits(shown: &str, devices: Option<&DeviceTypes>) -> Vec<Fit> {
    let words = shown.trim_end();
    let known: Vec<Fit> = screens(devices).map(|screen| screen.fit(words)).collect();
    if !known.is_empty() {
        return known;
    }
    let mut named: Vec<&DeviceType> = Vec::new();
    for device in devices.iter().flat_map(|devices| devices.named()) {
        if !named.contains(&&device.value) {
            named.push(device);
        }
    }
    let screen = |device: &DeviceType| match device {
        DeviceType::Open(_) => text::short(&device.to_string(), NAME),
        _ => format!("{device} device"),
    };
    named.into_iter().map(|device| fit(screen(device).into(), device.clone(), words, None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_the_screen_ends_and_counted_as_people_count() {
        let long = "👨‍👩‍👧".repeat(30);
        let all = fits(&long, None);
        let told: Vec<_> = all.iter().map(|fit| (&*fit.screen, fit.whole, fit.characters)).collect();
        assert_eq!(
            told,
            [("iPhone lock screen", true, 30), ("Android collapsed", false, 22), ("browser notification", true, 30)]
        );
        assert_eq!(all[1].shown, format!("{}…", "👨‍👩‍👧".repeat(22)));
        assert_eq!(all[0].shown, long);
    }

    #[test]
    fn a_text_of_several_lines_is_cut_where_the_last_line_ends() {
        let shown = |text: &str| fits(text, None).into_iter().map(|fit| fit.shown).collect::<Vec<_>>();
        assert_eq!(
            shown("One\nTwo\nThree\nFour\nFive\nSix"),
            ["One\nTwo\nThree\nFour…", "One…", "One\nTwo\nThree\nFour\nFive\nSix"]
        );
        assert_eq!(shown("One\nTwo"), ["One\nTwo", "One…", "One\nTwo"]);
        assert_eq!(fits("One\nTwo", None)[1].characters, 3);
    }

    #[test]
    fn blanks_at_the_end_are_not_shown() {
        assert_eq!(fits("Come back  \n", None)[0].shown, "Come back");
    }
}
