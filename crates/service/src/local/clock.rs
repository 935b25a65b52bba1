//! Reads and moves the clock.

use jiff::{Span, Timestamp};
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::node::{Decode, Fields, Node, Plain, Reader, Tree, resolve};
use pushplan_model::nouns::delay::Delay;
use serde_json::{Value, json};

use super::Later;
use super::form::Time;
use crate::answer::{Answer, Answered, Refusal};
use crate::engine::Engine;
use crate::request::{Request, RequestBody};

pub fn get(engine: &Engine, _: &Request) -> Answered {
    Ok(Answer::bare(200, shown(engine)))
}

fn shown(engine: &Engine) -> Value {
    let next_due = engine.read(|state, _| state.next_due());
    let clock = &engine.clock;
    json!({ "now": clock.now(), "virtual": clock.is_virtual(), "next_due": next_due })
}

/// A move of the clock: to a time, or by a duration.
enum Move {
    To(Timestamp),
    By(i64),
}

impl Decode for Move {
    const WHAT: &'static str = "{to: <time>} or {by: <length of time>}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        fields.close(&["to", "by"], reader);
        let to = fields.take::<Option<Time>>("to", reader)?;
        let by = fields.take::<Option<Length>>("by", reader)?;
        match (to, by) {
            (Some(Time(at)), None) => Some(Self::To(at)),
            (None, Some(Length(seconds))) => Some(Self::By(seconds)),
            (to, _) => {
                let number = if to.is_some() { "both are given" } else { "neither is given" };
                let finding = Finding::new(&codes::YM206, node.span, format!("`to` or `by` says where to: {number}"));
                reader.report(finding.help(format!("write {}", Self::WHAT)));
                None
            }
        }
    }
}

/// A duration as people write it.
struct Length(i64);

impl Decode for Length {
    const WHAT: &'static str = Delay::WHAT;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let read = match &node.tree {
            Tree::Scalar(scalar) => match resolve(&scalar.text) {
                Plain::Integer(seconds) => Some(seconds),
                // A negative duration is parsed as well, so that the error says that time does not go back.
                _ => match scalar.text.strip_prefix('-') {
                    Some(back) => Delay::parse(back).map(|delay| -delay.0),
                    None => Delay::parse(&scalar.text).map(|delay| delay.0),
                },
            },
            _ => None,
        };
        match (&read, &node.tree) {
            (None, Tree::Scalar(scalar)) => {
                let finding = Finding::new(&codes::YM206, node.span, format!("`{}` is no length of time", scalar.text));
                reader.report(finding.help(format!("write {}, or a number of seconds", Self::WHAT)));
            }
            (None, _) => reader.unexpected(node, Self::WHAT),
            (Some(_), _) => {}
        }
        read.map(Self)
    }
}

pub fn set<'e>(engine: &'e Engine, sent: &'e RequestBody) -> Later<'e> {
    Box::pin(async move {
        let to = match target(engine, sent) {
            Ok(to) => to,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let moved = engine.move_clock(to).await?;
        Ok(match moved {
            Some(sent) => {
                let mut answer = shown(engine);
                answer["sent"] = json!(sent);
                Ok(Answer::bare(200, answer))
            }
            None => Err(backwards(engine, to)),
        })
    })
}

fn target(engine: &Engine, sent: &RequestBody) -> Result<Timestamp, Refusal> {
    let wanted: Move = sent.read()?;
    if !engine.clock.is_virtual() {
        let error = "the clock shows the real time; only one that was started with --clock can be moved";
        return Err(Refusal::conflict(error));
    }
    let now = engine.clock.now();
    let to = match wanted {
        Move::To(at) => at,
        Move::By(seconds) => Span::new()
            .try_seconds(seconds)
            .and_then(|length| now.checked_add(length))
            .map_err(|_| Refusal::invalid("the clock cannot go that far"))?,
    };
    if to < now { Err(backwards(engine, to)) } else { Ok(to) }
}

fn backwards(engine: &Engine, to: Timestamp) -> Refusal {
    let now = engine.clock.now();
    Refusal::conflict(format!("the clock stands at {now} and never goes back: {to} is past"))
}
