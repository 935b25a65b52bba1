//! The results of an experiment in lines.

use crate::outcome::{Estimate, SMALLEST, Trial, TrialGroup};
use crate::render::layout::{Paint, Words};
use crate::text;

/// The lines below the row of an experiment.
pub(super) fn lines(trial: &Trial) -> Vec<Words> {
    let mut lines = Vec::new();
    for (number, variant) in trial.variants.iter().enumerate() {
        lines.push(Words::new(&group(&name(number, variant), variant)));
    }
    let Some(control) = &trial.control else { return lines };
    lines.push(Words::new(&group("control group", control)));
    let small = trial.variants.iter().chain([control]).any(TrialGroup::is_small);
    for (number, variant) in trial.variants.iter().enumerate() {
        let Some(difference) = variant.against(control) else { continue };
        let words = format!(
            "{} against the control group: {} points (95 %: {} to {}), {}",
            name(number, variant),
            points(difference.value),
            points(difference.low),
            points(difference.high),
            verdict(difference)
        );
        let paint = if difference.is_clear() && !small { Paint::Strong } else { Paint::Faint };
        lines.push(Words::default().paint(&words, paint));
    }
    if small {
        let words = format!("the sample is too small for a decision: a group has fewer than {SMALLEST} devices");
        lines.push(Words::default().paint(&words, Paint::Asks));
    }
    lines
}

/// `variant 2 "Short"`
pub(super) fn name(number: usize, variant: &TrialGroup) -> String {
    let name = variant.name.as_ref().map(|name| format!(" {}", text::quoted_short(name, 40))).unwrap_or_default();
    format!("variant {}{name}", number + 1)
}

fn group(name: &str, group: &TrialGroup) -> String {
    let Some(Estimate { value, low, high }) = group.rate() else { return format!("{name}: no device") };
    let TrialGroup { responses, devices, .. } = group;
    format!("{name}: {responses} of {devices} responded, {} (95 %: {} to {})", rate(value), rate(low), rate(high))
}

pub(super) fn verdict(difference: Estimate) -> &'static str {
    match difference {
        Estimate { low, .. } if low > 0.0 => "more people respond",
        Estimate { high, .. } if high < 0.0 => "fewer people respond",
        _ => "which may be chance",
    }
}

/// `12.5 %`
fn rate(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

/// `+2.5`
fn points(value: f64) -> String {
    let tenths = (value * 1_000.0).round() / 10.0;
    match tenths {
        0.0 => "0.0".to_owned(),
        tenths if tenths < 0.0 => format!("−{:.1}", -tenths),
        tenths => format!("+{tenths:.1}"),
    }
}
