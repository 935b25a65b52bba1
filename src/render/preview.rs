//! The output of `pushplan preview`: messages on lock screens, in the terminal and as an HTML page.

use std::fmt::Write;

use maud::html;

use super::escape::stream;
use super::html::phone::SUMMARY;
use super::html::{page, phone};
use super::layout::{Paint, Row, Style, Words, head, painted, paragraph, rows};
use super::{one_line, visible};
use crate::address::Address;
use crate::look::{Appearance, Center, Fit, HeadLine, cut, is_rtl, width, wrap};

/// The messages of a resource, and their sender.
#[derive(Debug)]
pub struct Preview<'p> {
    pub address: &'p Address,
    /// Where it is declared: `messages/templates.yaml:18`.
    pub place: String,
    /// The visible sender: the app, which has the project's name.
    pub app: &'p str,
    /// Whether a push can set values for the placeholders.
    pub open: bool,
    /// The devices that it reaches, and those of each locale, if they were counted.
    pub reach: Option<String>,
    pub seen: Vec<Appearance>,
}

/// The characters that boxes are drawn with.
struct Frame {
    top: [&'static str; 3],
    middle: [&'static str; 3],
    bottom: [&'static str; 3],
    side: &'static str,
}

const ROUND: Frame =
    Frame { top: ["╭", "─", "╮"], middle: ["├", "─", "┤"], bottom: ["╰", "─", "╯"], side: "│" };
const ASCII: Frame = Frame { top: ["+", "-", "+"], middle: ["+", "-", "+"], bottom: ["+", "-", "+"], side: "|" };

/// A text as the terminal shows it, so that its width is known.
fn drawn(text: &str, style: Style) -> String {
    if style.ascii { stream::ascii(text) } else { text.to_owned() }
}

/// The width of a lock screen in columns: one line is what Android shows, including the mark of a cut; an iPhone shows
/// four.
const COLUMNS: usize = 46;
/// The indent of boxes.
const INDENT: usize = 2;
/// The text at the right of the sender.
const NOW: &str = "now";

/// The parts of a message that a screen does not show.
fn cut_off(fit: &Fit) -> Vec<String> {
    let text = (!fit.whole).then(|| format!("“{}”", fit.cut_off()));
    let heads = fit.heads.iter().filter(|head| !head.whole).map(|head| format!("{} “{}”", head.name, head.text));
    text.into_iter().chain(heads).collect()
}

/// The label of a message without one, next to others with one.
fn label(seen: &Appearance) -> &str {
    seen.label.as_deref().unwrap_or("with its defaults")
}

impl Preview<'_> {
    fn has_several(&self) -> bool {
        self.seen.len() > 1
    }

    /// The preview for a terminal.
    pub fn text(&self, style: Style) -> String {
        let mut out = String::new();
        let address = Words::default().paint(&self.address.to_string(), Paint::Strong);
        head(&mut out, &address, &Words::default().paint(&self.place, Paint::Faint), style);
        if let Some(reach) = &self.reach {
            paragraph(&mut out, &Words::new(&format!("Reaches {reach}.")), 0, style);
        }
        for seen in &self.seen {
            if self.has_several() || seen.label.is_some() {
                let _ = writeln!(out);
                paragraph(&mut out, &Words::default().paint(label(seen), Paint::Strong), 0, style);
            }
            for fit in &seen.fits {
                let _ = writeln!(out);
                let caption = format!("{}: {}", fit.screen, fit.how_much());
                paragraph(&mut out, &Words::new(&caption), INDENT, style);
                self.notification(&mut out, fit, style);
                for off in cut_off(fit) {
                    paragraph(&mut out, &Words::new("cut off: ").paint(&off, Paint::Faint), INDENT, style);
                }
            }
            let facts = self.facts(seen);
            if !facts.is_empty() {
                let _ = writeln!(out);
                rows(&mut out, &facts, INDENT, style);
            }
        }
        out
    }

    /// A notification in a box.
    fn notification(&self, out: &mut String, fit: &Fit, style: Style) {
        let inner = COLUMNS.min(style.width.saturating_sub(INDENT + 4)).max(NOW.len() + 2);
        let mut lines = Vec::new();
        let mark = drawn("…", style);
        let app = drawn(&one_line(self.app), style);
        let room = inner - NOW.len() - 1;
        let app = match cut(&app, room).and_then(|_| cut(&app, room.saturating_sub(width(&mark)))) {
            Some(kept) => format!("{kept}{mark}"),
            None => app,
        };
        let gap = " ".repeat(inner - NOW.len() - width(&app));
        lines.push(format!("{}{gap}{}", painted(&app, Paint::Strong, style), painted(NOW, Paint::Faint, style)));
        let head = |HeadLine { name, text, shown, .. }: &HeadLine| {
            let paint = if *name == "title" { Paint::Strong } else { Paint::Plain };
            aligned(&one_line(shown), is_rtl(text), inner, paint, style)
        };
        lines.extend(fit.heads.iter().filter(|head| head.name != SUMMARY).flat_map(head));
        if fit.shown.is_empty() {
            lines.extend(aligned("(no text)", false, inner, Paint::Faint, style));
        } else {
            lines.extend(aligned(&visible(&fit.shown), fit.rtl, inner, Paint::Plain, style));
        }
        lines.extend(fit.heads.iter().filter(|head| head.name == SUMMARY).flat_map(head));
        let indent = " ".repeat(INDENT);
        let frame = if style.ascii { &ASCII } else { &ROUND };
        let rule = |[left, line, right]: [&str; 3]| format!("{indent}{left}{}{right}\n", line.repeat(inner + 2));
        let row = |line: &str| format!("{indent}{0} {line} {0}\n", frame.side);
        out.push_str(&rule(frame.top));
        lines.iter().for_each(|line| out.push_str(&row(line)));
        for button in &fit.buttons {
            out.push_str(&rule(frame.middle));
            let label = aligned(&one_line(button), is_rtl(button), inner, Paint::Strong, style);
            label.iter().for_each(|line| out.push_str(&row(line)));
        }
        out.push_str(&rule(frame.bottom));
    }

    /// The named facts that no screen shows.
    fn told(&self, seen: &Appearance) -> Vec<(&'static str, String)> {
        let tap = seen.tap.iter().chain(&seen.platform_taps).map(|tap| ("tap", tap.clone()));
        let buttons = seen.presses.iter().map(|press| ("button", press.clone()));
        let unless = if self.open { ", unless the push sets one" } else { "" };
        let unfilled = seen.unfilled.iter().map(|key| {
            let words = format!("{{{{{key}}}}} has no value: recipients see the braces{unless}");
            ("unfilled", words)
        });
        let fits = seen.fits.iter().filter(|fit| !fit.expanded.is_empty());
        let expanded = fits.map(|fit| ("expanded", format!("on {}: {}", fit.device, fit.expanded.join(", "))));
        expanded.chain(tap).chain(buttons).chain(unfilled).collect()
    }

    /// Returns rows for the facts that no screen shows, and for the Message Center message.
    fn facts(&self, seen: &Appearance) -> Vec<Row> {
        let mut found: Vec<Row> =
            self.told(seen).iter().map(|(name, words)| Row::new(name, Words::new(words))).collect();
        if let Some(Center { title, text }) = &seen.message {
            let row = Row::new("message", Words::new("title: ").paint(title, Paint::Strong));
            found.push(text.lines().fold(row, |row, line| row.line(Words::new(line))));
        }
        found
    }

    /// The preview as an HTML page.
    pub fn html(&self) -> String {
        let title = format!("{}, as recipients will see it", self.address);
        let body = html! {
            main {
                h1 { bdi { (one_line(&self.address.to_string())) } }
                p class="place" { (one_line(&self.place)) }
                @if let Some(reach) = &self.reach { p class="place" { "Reaches " (one_line(reach)) "." } }
                @for seen in &self.seen {
                    section {
                        @if self.has_several() || seen.label.is_some() { h2 dir="auto" { (one_line(label(seen))) } }
                        div class="screens" {
                            @for fit in &seen.fits { (phone::phone(fit, self.app)) }
                            @if let Some(message) = &seen.message { (phone::inbox(message)) }
                        }
                        @let cut = seen.fits.iter().flat_map(|fit| cut_off(fit).into_iter().map(move |off| (fit, off)));
                        @let cut = cut.map(|(fit, off)| ("cut off", format!("{}: {off}", fit.screen)));
                        @let told: Vec<_> = cut.chain(self.told(seen)).collect();
                        @if !told.is_empty() {
                            dl {
                                @for (name, words) in told { dt { (name) } dd { bdi { (one_line(&words)) } } }
                            }
                        }
                    }
                }
            }
        };
        page(&title, &format!("{CSS}{}", phone::CSS), &body)
    }
}

/// The lines of a text, padded to the width of the box: right-aligned for a right-to-left text.
fn aligned(text: &str, rtl: bool, columns: usize, paint: Paint, style: Style) -> Vec<String> {
    let line = |line: &str| {
        let gap = " ".repeat(columns.saturating_sub(width(line)));
        let line = painted(line, paint, style);
        if rtl { format!("{gap}{line}") } else { format!("{line}{gap}") }
    };
    wrap(&drawn(text, style), columns).into_iter().map(line).collect()
}

/// The style of the page around the screens.
const CSS: &str = "\
:root{color-scheme:light dark}
body{margin:0;background:#ffffff;color:#16181d;font:1rem/1.5 system-ui,sans-serif}
main{max-width:80rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.375rem;margin:0;overflow-wrap:anywhere}
h2{font-size:1.125rem;margin:2rem 0 .5rem;overflow-wrap:anywhere}
.place{margin:0 0 1.5rem;color:#565b66;overflow-wrap:anywhere}
.screens{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:1.25rem;align-items:start}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1rem;margin:1rem 0}
dt{color:#565b66}
dd{margin:0;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{background:#0d0f13;color:#f3f4f6}.place,dt{color:#b4bac5}}
";
