//! The output of `pushplan outcome`: the number of devices that each push reached.

pub mod json;
mod trial;

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::{Timestamp, Unit};

use super::layout::{Paint, Row, Style, Words, paragraph, rows};
use crate::address::Address;
use crate::outcome::{Counted, Occasion, PushOutcome, Trial, Why};
use crate::text;
use crate::timing::words::{distance, moment};

/// Pushes and their outcomes, in the order of time.
#[derive(Debug)]
pub struct OutcomeView<'v> {
    pub target: &'v str,
    /// The current time of the service.
    pub now: Timestamp,
    pub told: Vec<(&'v Occasion, &'v PushOutcome)>,
    /// The results of experiments, if the service reports them.
    pub trials: &'v BTreeMap<Address, Trial>,
}

/// The counts of a push, as columns of a table.
struct Cells {
    devices: String,
    responses: String,
    rate: String,
}

/// The name of a push: its address, and which of several times.
fn name(one: &Occasion) -> String {
    let number = one.number.map(|number| format!(", time {number}")).unwrap_or_default();
    format!("{}{number}", one.address)
}

/// Direct responses per hundred devices.
fn rate(counted: &Counted) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a share is shown with one digit")]
    (counted.sends > 0).then(|| counted.direct_responses as f64 * 100.0 / counted.sends as f64)
}

fn why(why: Why) -> &'static str {
    match why {
        Why::InDoubt => "whether it was scheduled is unknown; `pushplan plan` shows what to do",
        Why::NoReport => {
            "the service has no report of it: the report may come later, or the push was stopped before \
            it was sent"
        }
        Why::NoneFits => "its push id is unknown, and the service reports no push sent at that time",
        Why::SeveralFit => "its push id is unknown, and the service reports several pushes sent at that time",
    }
}

impl OutcomeView<'_> {
    /// The outcome for a terminal.
    pub fn text(&self, style: Style) -> String {
        let mut out = String::new();
        if self.told.is_empty() {
            let none = format!("No scheduled push or experiment was applied to {} yet.", self.target);
            paragraph(&mut out, &Words::new(&none), 0, style);
            return out;
        }
        // A measured clock is a moment late, which may be in the minute before.
        let now = self.now.round(Unit::Minute).unwrap_or(self.now);
        let head = format!("Devices reached, as reported by {} on {}:", self.target, moment(now));
        paragraph(&mut out, &Words::new(&head), 0, style);
        let _ = writeln!(out);
        let cells: Vec<Option<Cells>> = self.told.iter().map(|(_, outcome)| cells(outcome)).collect();
        let widest =
            |cell: fn(&Cells) -> &String| cells.iter().flatten().map(|cells| cell(cells).len()).max().unwrap_or(0);
        let widths = (widest(|cells| &cells.devices), widest(|cells| &cells.responses), widest(|cells| &cells.rate));
        let table: Vec<Row> = self
            .told
            .iter()
            .zip(&cells)
            .map(|((one, outcome), cells)| self.row(one, outcome, cells.as_ref(), widths))
            .collect();
        rows(&mut out, &table, 2, style);
        let _ = writeln!(out);
        paragraph(&mut out, &Words::new(&self.summary()), 0, style);
        out
    }

    fn row(&self, one: &Occasion, outcome: &PushOutcome, cells: Option<&Cells>, widths: (usize, usize, usize)) -> Row {
        let when = |at: Timestamp| format!("{}, {}", moment(at), distance(self.now, at));
        let line = cells.map(|Cells { devices, responses, rate }| {
            let (first, second, third) = widths;
            format!("{devices:>first$}   {responses:>second$}   {rate:>third$}")
        });
        let label = name(one);
        let counted = |counted: &Counted, paint| {
            let words = Words::default().paint(&line.clone().unwrap_or_default(), paint);
            let sent = format!("sent {}", when(counted.time.unwrap_or(one.first)));
            let row = Row::new(&label, words).line(Words::new(&sent));
            match counted.matched {
                true => row.line(Words::new("its push id is unknown: this is the only push sent at that time")),
                false => row,
            }
        };
        let row = match outcome {
            PushOutcome::NotYet => Row::new(&label, Words::new(&format!("will be sent {}", when(one.first)))),
            PushOutcome::Reached(found) => counted(found, Paint::Strong),
            PushOutcome::UnderWay(found) => counted(found, Paint::Strong)
                .line(Words::new(&format!("continues until {}, in recipients' local time", when(one.last)))),
            PushOutcome::Nobody(found) => counted(found, Paint::Danger)
                .paint(Paint::Danger)
                .line(Words::new(&format!("it was for {}, on {}", one.who, one.devices))),
            PushOutcome::Unknown(Why::InDoubt) => Row::new(&label, Words::new(why(Why::InDoubt))).paint(Paint::Asks),
            PushOutcome::Unknown(reason) => {
                let row = Row::new(
                    &label,
                    Words::new("not known").and(&format!("; it was scheduled for {}", when(one.first))),
                );
                row.line(Words::new(why(*reason)))
            }
        };
        let results = self.trials.get(&one.address).map(trial::lines).unwrap_or_default();
        let row = results.into_iter().fold(row, Row::line);
        match one.moved_from {
            Some(was) => row.line(Words::new(&format!("moved on the service: it was applied for {}", moment(was)))),
            None => row,
        }
    }

    /// The summary line.
    fn summary(&self) -> String {
        let count = |is: fn(&PushOutcome) -> bool| self.told.iter().filter(|(_, outcome)| is(outcome)).count();
        let parts = [
            (count(|outcome| matches!(outcome, PushOutcome::Reached(_) | PushOutcome::UnderWay(_))), "reached people"),
            (count(|outcome| matches!(outcome, PushOutcome::Nobody(_))), "reached nobody"),
            (count(|outcome| matches!(outcome, PushOutcome::NotYet)), "not sent yet"),
            (count(|outcome| matches!(outcome, PushOutcome::Unknown(_))), "not known"),
        ];
        let told = parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
        format!("Outcome: {}.", told.collect::<Vec<_>>().join(", "))
    }

    /// The error for pushes that reached nobody, and its help.
    pub fn nobody(&self) -> Option<(String, String)> {
        let nobody: Vec<&Occasion> = self
            .told
            .iter()
            .filter(|(_, outcome)| matches!(outcome, PushOutcome::Nobody(_)))
            .map(|(one, _)| *one)
            .collect();
        let (first, rest) = nobody.split_first()?;
        let mut message = match rest.is_empty() {
            true => format!("{} reached nobody", name(first)),
            false => format!("{} of {} that were sent reached nobody", nobody.len(), self.sent()),
        };
        let _ = write!(message, ": {} was for {}, on {}", name(first), first.who, first.devices);
        let help = "check that devices matched the audience when it was sent, that they have these device types, and \
            that they are opted in; `pushplan report devices` counts opted-in devices, and `pushplan test` tests an \
            audience";
        Some((message, help.to_owned()))
    }

    fn sent(&self) -> String {
        let is_sent = |outcome: &&PushOutcome| {
            matches!(outcome, PushOutcome::Reached(_) | PushOutcome::UnderWay(_) | PushOutcome::Nobody(_))
        };
        let number = self.told.iter().map(|(_, outcome)| *outcome).filter(is_sent).count();
        if number == 1 { "1 push".to_owned() } else { format!("{number} pushes") }
    }
}

fn cells(outcome: &PushOutcome) -> Option<Cells> {
    let (PushOutcome::Reached(counted) | PushOutcome::UnderWay(counted) | PushOutcome::Nobody(counted)) = outcome
    else {
        return None;
    };
    let Counted { sends, direct_responses, .. } = counted;
    let count = |number: u64, noun: &str| text::count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    Some(Cells {
        devices: if *sends == 0 { "nobody".to_owned() } else { count(*sends, "device") },
        responses: count(*direct_responses, "direct response"),
        rate: rate(counted).map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1} %")),
    })
}
