use std::fmt::Write;

use super::{ImportView, LocaleCounts, TranslationsView};
use crate::manifest::TextState;
use crate::render::layout::Style;
use crate::render::one_line;
use crate::render::table::{Align, Table};
use crate::text;

/// The matrix of messages and locales, and the texts that are missing.
pub fn text(view: &TranslationsView, style: Style) -> String {
    let TranslationsView { table, target, .. } = view;
    if table.messages.is_empty() {
        return format!("No message of {} has texts in several locales.\n", one_line(target));
    }
    let titles = std::iter::once("message").chain(table.locales.iter().map(String::as_str));
    let titles: Vec<(&str, Align)> = titles.map(|title| (title, Align::Left)).collect();
    let (mut matrix, mut missing) = (Table::new(&titles), Vec::new());
    let mut all = LocaleCounts::default();
    for message in &table.messages {
        let mut cells = vec![message.key.clone()];
        for locale in &table.locales {
            let counts = LocaleCounts::of(message, locale);
            cells.push(cell(counts, locale));
            all.all += counts.all - counts.inherited;
            all.translated += counts.translated;
            for (state, why) in [(TextState::Missing, "missing"), (TextState::Untranslated, "not translated")] {
                let fields = message.texts.iter().filter(|text| text.state(locale) == state);
                let fields: Vec<&str> = fields.map(|text| text.field.as_str()).collect();
                if !fields.is_empty() {
                    missing.push([locale.clone(), message.key.clone(), why.to_owned(), fields.join(", ")]);
                }
            }
        }
        matrix.row(cells);
    }
    let mut out = matrix.text(style);
    if !missing.is_empty() {
        missing.sort();
        let columns = ["locale", "message", "state", "texts"].map(|title| (title, Align::Left));
        let mut list = Table::new(&columns);
        missing.into_iter().for_each(|cells| list.row(cells));
        let _ = write!(out, "\n{}", list.text(style));
    }
    let _ = write!(
        out,
        "\n{} in {}: {} of {} translated.",
        text::count(table.messages.len(), "message"),
        text::count(table.locales.len(), "locale"),
        all.translated,
        text::count(all.all, "text"),
    );
    if table.single > 0 {
        let has = if table.single == 1 { "has" } else { "have" };
        let _ = write!(out, " {} {has} only common texts.", text::count(table.single, "message"));
    }
    out.push('\n');
    out
}

fn cell(counts: LocaleCounts, locale: &str) -> String {
    match counts {
        LocaleCounts { all, inherited, .. } if all > 0 && inherited == all => {
            format!("as {}", locale.split('-').next().unwrap_or(locale))
        }
        counts if counts.is_complete() => "complete".to_owned(),
        LocaleCounts { all, translated, inherited } if translated + inherited > 0 => {
            format!("{} of {all}", translated + inherited)
        }
        _ => "missing".to_owned(),
    }
}

/// The changes of an import.
pub fn imported(view: &ImportView) -> String {
    let ImportView { import, sources, is_trial } = view;
    let mut out = String::new();
    let mut last = None;
    for changed in &import.changed {
        if last != Some(changed.new.file) {
            let _ = writeln!(out, "{}", one_line(&sources.get(changed.new.file).path));
            last = Some(changed.new.file);
        }
        let _ = writeln!(out, "  {} {}", one_line(&changed.new.message), one_line(&changed.new.field));
        if let Some(old) = &changed.old {
            let _ = writeln!(out, "    - {}", text::quoted(old));
        }
        let _ = writeln!(out, "    + {}", text::quoted(&changed.new.text));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let verb = if *is_trial { "would change" } else { "changed" };
    let mut parts = vec![format!("{} {verb}", text::count(import.changed.len(), "text"))];
    if import.unchanged > 0 {
        parts.push(format!("{} unchanged", import.unchanged));
    }
    if import.empty > 0 {
        parts.push(format!("{} without a translation", import.empty));
    }
    let _ = writeln!(out, "{}.", parts.join(", "));
    out
}
