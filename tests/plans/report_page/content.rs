//! The content of a report.

use pushplan::render::Style;
use pushplan::render::plan::{NextSteps, text};

use super::reports::{HOSTILE, all, enormous, hostile, huge, page, told};

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

#[test]
fn however_large_its_texts_are_a_page_has_a_bound_and_counts_what_is_beyond_it() {
    let shown = page(&enormous(1_000));
    assert!(shown.len() < 8_000_000, "{} bytes", shown.len());
    assert!(shown.contains("<b>1000</b> to update"));
    let cards = shown.matches("<article").count();
    assert!((1..150).contains(&cards), "{cards} cards");
    assert!(seen(&shown).contains(&format!("The other {} changes", 1_000 - cards)));
}

/// The visible text of a page, without markup.
fn seen(page: &str) -> String {
    let body = page.split("</head>").nth(1).expect("a body");
    let texts = body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: Vec<&str> = texts.collect();
    let text = text.join("").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

#[test]
fn what_the_text_of_a_plan_says_its_page_says_too() {
    for (name, plan) in crate::plans::all().into_iter().chain([("told", told())]) {
        let page = seen(&page(&plan));
        let shown = text(&plan, &NextSteps::default(), Style { width: 400, ..Style::PLAIN });
        // The last lines have the totals and the next steps, for which the page has its own words.
        let (rows, _) = shown.split_once("\nPlan: ").unwrap_or_default();
        // A page draws messages, and has its own words for missing values.
        let rows: Vec<&str> = rows.lines().filter(|line| !line.contains("nothing fills in")).collect();
        let rows = rows.join("\n");
        // Marks of edits, which a page shows by other means.
        let rows = ["[-", "-]", "{+", "+}"].iter().fold(rows, |rows, mark| rows.replace(mark, ""));
        for word in rows.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)) {
            let bare = word.trim_matches(['-', '"', '.', ',', ':', ';', '(', ')']);
            // The page has its own headings for these, and cuts less.
            let is_other = ["who", "effect", "more", "shown", "as", "fits"].contains(&bare) || word.contains('…');
            assert!(is_other || page.contains(bare), "{name}: {bare:?} is not in the page");
        }
    }
}

#[test]
fn a_reader_sees_the_message_the_people_and_the_clocks() {
    let shown = seen(&page(&told()));
    for wanted in [
        "Hi there, we miss you. Come back this week and take 20% off everything until Sunday.",
        "Remind me later",
        "broader",
        "country = GB",
        "Los Angeles06:00 Fri quiet",
        "Shaded: quiet hours, 21:00 to 08:00",
        "If it stops after this: experiments/bf-text-test is gone until the next apply",
        "to proceed, pass --allow-sends",
        "scheduled_pushes/halloween was due on Sat 31 Oct 2026 13:00 UTC",
    ] {
        assert!(shown.contains(wanted), "{wanted:?} is not in the page");
    }
}
