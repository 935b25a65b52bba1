//! The places where a notification first appears.

use std::borrow::Cow;

use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::text;

use super::clusters::{characters, cut};
use super::direction::is_rtl;

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
    /// The text on this device type, which may have its own.
    pub text: String,
    /// Whether it is read from right to left.
    pub rtl: bool,
    /// The visible text, with `…` if it is cut.
    pub shown: String,
    /// Whether that is all of the text.
    pub whole: bool,
    /// The number of visible characters as readers count them.
    pub characters: usize,
    /// The title, the subtitle and the summary, if there are any.
    pub heads: Vec<HeadLine>,
    /// The labels of the buttons.
    pub buttons: Vec<String>,
    /// The images and the further texts of the expanded notification.
    pub expanded: Vec<String>,
}

/// A line next to the text: the title, the subtitle or the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadLine {
    /// `title`, `subtitle` or `summary`.
    pub name: &'static str,
    /// The whole line.
    pub text: String,
    /// The visible part, with `…` if it is cut.
    pub shown: String,
    pub whole: bool,
}

impl Fit {
    /// The visible part of the text: `shows all 84 characters`.
    pub fn how_much(&self) -> String {
        match (self.whole, characters(&self.text)) {
            (true, 0) => "no text".to_owned(),
            (true, 1) => "the only character".to_owned(),
            (true, all) => format!("shows all {all} characters"),
            (false, all) => format!("{} of {all} characters", self.characters),
        }
    }

    /// The invisible part of the text; empty if all of it is visible.
    pub fn cut_off(&self) -> &str {
        let shown = self.shown.strip_suffix('…').filter(|_| !self.whole);
        shown.and_then(|shown| self.text.strip_prefix(shown)).unwrap_or_default().trim_start()
    }

    /// Whether something of the message is cut.
    pub fn is_cut(&self) -> bool {
        !self.whole || self.heads.iter().any(|head| !head.whole)
    }

    /// The title on this device type.
    pub fn title(&self) -> Option<&str> {
        self.heads.iter().find(|head| head.name == "title").map(|head| head.text.as_str())
    }
}

/// The texts of a message on one device type.
#[derive(Clone, Debug, Default)]
pub struct DeviceTexts {
    pub text: String,
    /// The title, the subtitle and the summary, each with its name.
    pub heads: Vec<(&'static str, String)>,
    pub buttons: Vec<String>,
    pub expanded: Vec<String>,
}

impl Screen {
    /// The visible part of a text; `None` if all of it fits.
    pub fn cut<'t>(&self, text: &'t str) -> Option<&'t str> {
        let lines = self.lines.and_then(|lines| text.match_indices('\n').nth(lines - 1)).map(|(end, _)| &text[..end]);
        let cut = self.columns.and_then(|columns| cut(lines.unwrap_or(text), columns));
        cut.or(lines.map(str::trim_end))
    }

    /// The visible part of a title, which has one line; `None` if all of it fits.
    pub fn cut_head<'t>(&self, text: &'t str) -> Option<&'t str> {
        let line = text.split('\n').next().unwrap_or_default();
        let cut = self.columns.and_then(|columns| cut(line, columns / self.lines.unwrap_or(1)));
        cut.or((line.len() < text.len()).then_some(line))
    }
}

fn fit(screen: Cow<'static, str>, device: DeviceType, texts: DeviceTexts, on: Option<&Screen>) -> Fit {
    let DeviceTexts { text, heads, buttons, expanded } = texts;
    let text = text.trim_end().to_owned();
    let cut = on.and_then(|screen| screen.cut(&text));
    let kept = cut.unwrap_or(&text);
    let shown = if cut.is_some() { format!("{kept}…") } else { kept.to_owned() };
    let head = |(name, text): (&'static str, String)| {
        let text = text.trim_end().to_owned();
        let cut = on.and_then(|screen| screen.cut_head(&text)).map(|kept| format!("{kept}…"));
        let whole = cut.is_none();
        HeadLine { name, shown: cut.unwrap_or_else(|| text.clone()), whole, text }
    };
    Fit {
        screen,
        device,
        whole: cut.is_none(),
        characters: characters(kept),
        rtl: is_rtl(&text),
        shown,
        heads: heads.into_iter().map(head).collect(),
        buttons,
        expanded,
        text,
    }
}

/// The visible part of a message on each screen. Named device types with unknown screens show all of it: all of them
/// if no screen is known, otherwise those in `own`, which have their own texts.
pub fn fits(on: &dyn Fn(&DeviceType) -> DeviceTexts, devices: Option<&DeviceTypes>, own: &[DeviceType]) -> Vec<Fit> {
    let known =
        screens(devices).map(|screen| fit(screen.name.into(), screen.device.clone(), on(&screen.device), Some(screen)));
    let mut fits: Vec<Fit> = known.collect();
    let named = devices.into_iter().flat_map(DeviceTypes::named).map(|device| &device.value);
    let own = own.iter().filter(|device| devices.is_none_or(|devices| devices.includes(device)));
    let others: Vec<&DeviceType> = if fits.is_empty() { named.chain(own).collect() } else { own.collect() };
    let screen = |device: &DeviceType| match device {
        DeviceType::Open(_) => text::short(&device.to_string(), NAME),
        _ => format!("{device} device"),
    };
    for device in others {
        if !fits.iter().any(|fit| fit.device == *device) {
            fits.push(fit(screen(device).into(), device.clone(), on(device), None));
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str, devices: Option<&DeviceTypes>) -> Vec<Fit> {
        super::fits(&|_| DeviceTexts { text: text.to_owned(), ..DeviceTexts::default() }, devices, &[])
    }

    #[test]
    fn a_title_has_one_line_on_a_phone() {
        let title = "A title that is longer than one line of any phone, and is cut";
        let on = |_: &DeviceType| DeviceTexts { heads: vec![("title", title.to_owned())], ..DeviceTexts::default() };
        let all = super::fits(&on, None, &[DeviceType::Amazon]);
        let shown: Vec<_> = all.iter().map(|fit| (fit.heads[0].shown.as_str(), fit.is_cut())).collect();
        assert_eq!(
            shown,
            [
                ("A title that is longer than one line of any…", true),
                ("A title that is longer than one line of any p…", true),
                (title, false),
                (title, false)
            ]
        );
    }

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
