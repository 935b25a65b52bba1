//! What is in a report.

use crate::reports::{HOSTILE, all, hostile, huge, page};

#[test]
fn a_report_is_the_same_every_time_and_asks_nobody() {
    for ((name, one), (_, other)) in all().into_iter().zip(all()) {
        assert!(one == other, "{name}");
        assert!(one.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""), "{name}");
        let loads = ["<script", "<img", "<link", "<iframe", "<object", "url("];
        assert!(loads.iter().all(|load| !one.contains(load)), "{name}");
    }
}

#[test]
fn nothing_breaks_out_of_its_place() {
    let shown = page(&hostile());
    assert!(!shown.contains("<script") && !shown.contains("<img"), "markup of a manifest is markup of the page");
    assert_eq!(shown.matches("</style>").count(), 1);
    assert_eq!(shown.matches("</title>").count(), 1 + shown.matches("<title>").count() - 1);
    let unseen = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}' | '\u{2028}');
    assert!(!shown.contains(unseen), "{:?}", shown.find(unseen).map(|at| &shown[at.saturating_sub(80)..at]));
    assert!(HOSTILE.contains(unseen));
}

#[test]
fn a_plan_of_ten_thousand_changes_is_a_page_that_can_be_read() {
    let shown = page(&huge(10_000));
    assert!(shown.len() < 8_000_000, "{} bytes", shown.len());
    assert!(shown.contains("<b>7000</b> to update") && shown.contains("<b>1000</b> to delete"), "what is counted");
    let cards = shown.matches("<article").count();
    let rows = shown.split("id=\"rest\"").nth(1).expect("the others").split("</section>").next().expect("a section");
    assert_eq!(cards + rows.matches("<li>").count(), 10_000);
}
