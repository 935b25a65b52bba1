//! Messages that contradict facts: the local day and hour of their recipients, and their language.

mod clocks;
mod dates;
mod days;
mod language;
mod locales;
mod phrases;
mod reading;
mod stop_words;
mod words;

pub use days::DAYS;
pub use language::LANGUAGE;
pub use locales::AUDIENCE_LOCALES;

use std::borrow::Cow;

use pushplan_model::kinds::{ReadableText, Sending};
use pushplan_model::source::Span;

use super::{Check, CheckScope, Dissected, Subject, schedules};
use crate::look;

/// A text as recipients read it.
#[derive(Debug)]
struct Content<'d> {
    at: Span,
    text: Cow<'d, str>,
}

/// The texts of a message: its text, its titles and its body.
fn contents<'d>(said: &ReadableText<'d>) -> Vec<Content<'d>> {
    let shown = said.notification.into_iter().flat_map(|notification| notification.heads());
    let plain = shown.chain(said.message.map(|message| &message.title));
    let mut contents: Vec<Content> =
        plain.map(|text| Content { at: text.span, text: Cow::Borrowed(text.as_str()) }).collect();
    if let Some(message) = said.message {
        contents.push(Content { at: message.body.span, text: Cow::Owned(look::body(message)) });
    }
    contents
}

/// The position in the resource itself: the text, or the name of its template.
fn place(one: &Dissected, sending: &Sending, content: &Content) -> Span {
    let is_same = |said: &ReadableText| match (said.notification, sending.said.notification) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => false,
    };
    let template = one.parts.pushes.iter().zip(&one.parts.said).find(|(_, said)| is_same(said));
    let template = template.and_then(|(push, _)| push.template.as_ref());
    match template.filter(|_| sending.said.borrowed) {
        Some(name) => name.span,
        None => content.at,
    }
}
