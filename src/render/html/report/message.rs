//! A message as recipients will see it, on the screens of their devices.

use maud::{Markup, html};

use crate::look::Appearance;
use crate::nouns::device::DeviceType;
use crate::plan::{Action, Change};
use crate::render::html::phone::{inbox, phone};
use crate::render::one_line;
use crate::review::{Review, Side};
use crate::text::count;

/// The number of messages of one change that are drawn: variants, outcomes and samples.
const DRAWN: usize = 6;
/// The number of characters of a text that are shown.
const TEXT: usize = 4000;
/// The sender of a message if the project has no name.
const APP: &str = "Your app";

/// The messages of a change as they will be, or as they were if the change deletes them.
fn messages(review: &Review, change: &Change) -> Vec<Appearance> {
    let side = if change.action == Action::Delete { Side::Before } else { Side::After };
    let found = review.messages(change, side);
    let found = if found.is_empty() { review.messages(change, Side::Before) } else { found };
    found.into_iter().map(bounded).collect()
}

/// Cuts the long texts of a message. The manifest has the full texts.
fn bounded(mut seen: Appearance) -> Appearance {
    let cut = |text: &mut String| {
        if text.chars().nth(TEXT).is_some() {
            *text = text.chars().take(TEXT).chain(['…']).collect();
        }
    };
    let Appearance { label, title, text, fits, buttons, presses, tap, platform_taps, message, unfilled, .. } =
        &mut seen;
    for fit in fits {
        [&mut fit.text, &mut fit.shown].into_iter().chain(&mut fit.buttons).for_each(cut);
        fit.heads.iter_mut().flat_map(|head| [&mut head.text, &mut head.shown]).for_each(cut);
    }
    message.iter_mut().for_each(|message| [&mut message.title, &mut message.text].into_iter().for_each(cut));
    let lists = buttons.iter_mut().chain(presses).chain(platform_taps).chain(unfilled);
    lists.chain(label).chain(title).chain(tap).for_each(cut);
    cut(text);
    seen
}

/// All messages of a change, drawn.
pub fn message(review: &Review, change: &Change) -> Markup {
    let all = messages(review, change);
    let app = review.plan.told.project.as_deref().unwrap_or(APP);
    let same = change.action != Action::Create
        && !all.is_empty()
        && review.messages(change, Side::Before).into_iter().map(bounded).eq(all.iter().cloned());
    html! {
        @if !all.is_empty() {
            section.part.message {
                h4 {
                    @match (change.action, same) {
                        (Action::Delete, _) => "What recipients saw",
                        (_, true) => "What recipients see: unchanged",
                        (_, false) => "What recipients will see",
                    }
                }
                @for (number, seen) in all.iter().take(DRAWN).enumerate() { (one(seen, all.first().filter(|_| number > 0), app)) }
                @if let more @ 1.. = all.len().saturating_sub(DRAWN) { p.faint { "and " (count(more, "more message")) } }
            }
        }
    }
}

/// One message. Messages after the first have fewer screens, because they are shown for their texts; actions that equal
/// those of the first are not repeated.
fn one(seen: &Appearance, first: Option<&Appearance>, app: &str) -> Markup {
    let phones =
        seen.fits.iter().filter(|fit| first.is_none() || fit.device != DeviceType::Web || seen.fits.len() == 1);
    let acts = |seen: &Appearance| (seen.tap.clone(), seen.platform_taps.clone(), seen.presses.clone());
    let is_told = first.is_some_and(|first| acts(first) == acts(seen));
    html! {
        @if let Some(label) = &seen.label { h5 dir="auto" { (one_line(label)) } }
        div.phones {
            @for fit in phones { (phone(fit, app)) }
            @if let Some(message) = &seen.message { (inbox(message)) }
        }
        @if !seen.unfilled.is_empty() {
            p.warn { "No value for " @for (number, key) in seen.unfilled.iter().enumerate() { @if number > 0 { ", " } code { (one_line(key)) } }
                ": recipients see the braces unless the push sets one." }
        }
        @if let Some(tap) = seen.tap.as_ref().filter(|_| !is_told) { p.does { b { "A tap " } span dir="auto" { (one_line(tap)) } } }
        @for tap in seen.platform_taps.iter().filter(|_| !is_told) { p.does { b { "A tap " } span dir="auto" { (one_line(tap)) } } }
        @for press in seen.presses.iter().filter(|_| !is_told) { p.does dir="auto" { (one_line(press)) } }
    }
}
