//! A message as recipients will see it, and how much of it fits on their screens.

use super::PlanView;
use crate::look::{Appearance, Fit, HeadLine};
use crate::plan::{Action, Change};
use crate::render::layout::{Paint, Row, Words};
use crate::review::Side;
use crate::text::{quoted, short};

/// The number of characters of an unchanged text that are shown.
const UNCHANGED: usize = 160;
/// The number of messages of one change whose fit is shown.
const MESSAGES: usize = 6;

/// The texts for recipients, if they or their times are new or changed.
pub fn rows(view: &PlanView, change: &Change) -> Vec<Row> {
    if !matches!(change.action, Action::Create | Action::Update | Action::Replace | Action::ByHand) {
        return Vec::new();
    }
    let new = view.review.messages(change, Side::After);
    if new.is_empty() {
        return Vec::new();
    }
    let old = view.review.texts(change, Side::Before);
    let is_same = !old.is_empty() && old.iter().eq(new.iter().map(|seen| &seen.text));
    if is_same && heads(&view.review.messages(change, Side::Before)) == heads(&new) {
        return unchanged(view, change, &new);
    }
    let mut shown = Row { lines: Vec::new(), ..Row::new("shown as", Words::default()) };
    let mut fits = Row { lines: Vec::new(), ..Row::new("fits", Words::default()) };
    let written = super::says(change.desired.as_deref());
    for (number, seen) in new.iter().enumerate() {
        let label = seen.label.as_ref().map(|label| format!("{label}: ")).unwrap_or_default();
        let is_written = written.iter().any(|value| value.as_str() == Some(&seen.text));
        if !is_written && !seen.text.is_empty() {
            shown.lines.push(Words::new(&label).and(&seen.text));
        }
        if is_cut(seen) && number < MESSAGES {
            fits.lines.push(Words::new(&format!("{label}{}", how_much(seen))));
        }
        if !seen.unfilled.is_empty() {
            let words = format!("{label}nothing fills in {}", crate::text::all_of(&seen.unfilled));
            shown.lines.push(Words::default().paint(&words, Paint::Asks));
        }
    }
    let cut = new.iter().skip(MESSAGES).filter(|seen| is_cut(seen)).count();
    if cut > 0 {
        fits.lines.push(Words::new(&format!("and {cut} more that are cut")));
    }
    [shown, fits].into_iter().filter(|row| !row.lines.is_empty()).collect()
}

/// Whether a screen does not show the whole message.
fn is_cut(seen: &Appearance) -> bool {
    seen.fits.iter().any(Fit::is_cut)
}

/// The texts of single platforms, and the titles.
fn heads(seen: &[Appearance]) -> Vec<(&str, &[HeadLine])> {
    seen.iter().flat_map(|seen| &seen.fits).map(|fit| (fit.text.as_str(), &fit.heads[..])).collect()
}

/// `iPhone lock screen: shows all 84 characters; Android collapsed: "Hi there, we…"`.
fn how_much(seen: &Appearance) -> String {
    let one = |fit: &Fit| {
        let text = if fit.whole { fit.how_much() } else { quoted(&fit.shown) };
        let heads = fit.heads.iter().filter(|head| !head.whole);
        let heads: String = heads.map(|head| format!(", {} {}", head.name, quoted(&head.shown))).collect();
        format!("{}: {text}{heads}", fit.screen)
    };
    seen.fits.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The text of a message whose time or audience changes, but not the text.
fn unchanged(view: &PlanView, change: &Change, seen: &[Appearance]) -> Vec<Row> {
    if view.review.times(change, Side::After).is_empty() {
        return Vec::new();
    }
    let mut row = Row { lines: Vec::new(), ..Row::new("alert", Words::default()) };
    for seen in seen {
        let label = seen.label.as_ref().map(|label| format!("{label}: ")).unwrap_or_default();
        row.lines
            .push(Words::new(&label).and(&quoted(&short(&seen.text, UNCHANGED))).paint("  unchanged", Paint::Faint));
    }
    vec![row]
}
