//! The JSON Schemas that pushplan publishes: for its input and its output.

use serde_json::Value;

use super::findings::json;
use super::{
    calendar, cases, doctor, history, lease, ledger, lookup, managed, many, outcome, plan, reach, report, statistics,
    translations, unmanaged,
};
use crate::manifest::schema;

/// Makes a schema.
pub type Maker = fn() -> Value;

/// The schema of manifests, for editors.
pub const MANIFEST: &str = "manifest.schema.json";

/// The schema of device tests, for editors.
pub(crate) const TESTS: &str = "tests.schema.json";

/// Every published schema: its file name, and its maker.
pub const SCHEMAS: &[(&str, Maker)] = &[
    ("calendar.schema.json", schema::of::<calendar::json::CalendarDocument>),
    ("calendars.schema.json", schema::of::<many::each::EachDocument<calendar::json::CalendarDocument>>),
    ("doctor.schema.json", schema::of::<doctor::DoctorDocument>),
    ("drift.schema.json", schema::of::<plan::drift::json::DriftDocument>),
    ("drifts.schema.json", schema::of::<many::drift::DriftsDocument>),
    ("findings.schema.json", schema::of::<json::FindingsDocument>),
    ("histories.schema.json", schema::of::<many::each::EachDocument<history::json::HistoryDocument>>),
    ("history.schema.json", schema::of::<history::json::HistoryDocument>),
    ("ledger.schema.json", schema::of::<ledger::Status>),
    ("ledgers.schema.json", schema::of::<many::each::EachDocument<ledger::Status>>),
    ("list.schema.json", schema::of::<managed::ManagedDocument>),
    ("locales.schema.json", schema::of::<translations::json::TranslationsDocument>),
    ("lookup.schema.json", schema::of::<lookup::json::LookupDocument>),
    (MANIFEST, schema::manifest),
    ("outcome.schema.json", schema::of::<outcome::json::OutcomeDocument>),
    ("outcomes.schema.json", schema::of::<many::each::EachDocument<outcome::json::OutcomeDocument>>),
    ("plan.schema.json", schema::of::<plan::json::PlanDocument>),
    ("plans.schema.json", schema::of::<many::json::PlansDocument>),
    ("project.schema.json", schema::project_file),
    ("reach.schema.json", schema::of::<reach::json::ReachDocument>),
    ("report.schema.json", schema::of::<report::Printed>),
    ("reports.schema.json", schema::of::<many::report::ReportsDocument>),
    ("statistics.schema.json", schema::of::<statistics::json::StatisticsDocument>),
    ("test-report.schema.json", schema::of::<cases::CasesDocument>),
    ("test-reports.schema.json", schema::of::<many::each::EachDocument<cases::CasesDocument>>),
    (TESTS, crate::cases::schema),
    ("unlock.schema.json", schema::of::<lease::Unlocked>),
    ("unmanaged-lists.schema.json", schema::of::<many::each::EachDocument<unmanaged::UnmanagedDocument>>),
    ("unmanaged.schema.json", schema::of::<unmanaged::UnmanagedDocument>),
];

/// The text of a schema file. The same schema gives the same bytes: keys are in alphabetical order.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The first line of a manifest that makes editors use the schema at this path.
pub(crate) fn modeline(path: &str) -> String {
    format!("# yaml-language-server: $schema={path}")
}

/// The first line in which a file differs from the expected text, as the two lines of a diff.
pub fn difference(found: &str, expected: &str) -> Option<String> {
    let mut lines = 1..;
    let (mut found, mut expected) = (found.lines(), expected.lines());
    loop {
        let line = lines.next()?;
        match (found.next(), expected.next()) {
            (None, None) => return None,
            (old, new) if old == new => {}
            (old, new) => {
                let old = old.map(|old| format!("\n  -{old}")).unwrap_or_default();
                let new = new.map(|new| format!("\n  +{new}")).unwrap_or_default();
                return Some(format!("  line {line}:{old}{new}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown_with_both_lines() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\nc\n", "a\nx\nc\n").as_deref(), Some("  line 2:\n  -b\n  +x"));
        assert_eq!(difference("a\n", "a\nb\n").as_deref(), Some("  line 2:\n  +b"));
    }

    #[test]
    fn schemas_have_their_own_file_names_in_order() {
        let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
}
