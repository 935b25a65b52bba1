//! Checks of messages against facts: the day and the hour at which people get them, and their language.

use std::collections::BTreeMap;

use pushplan_testing::Folder;
use serde_json::Value;

/// The findings about each push of a manifest, by the push's key.
fn found(folder: &Folder) -> BTreeMap<String, Vec<(String, String)>> {
    let ran = folder.run(&["validate", "--format", "json", "--now", "2026-11-15T12:00Z"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no report: {ran}"));
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for finding in report["findings"].as_array().expect("findings") {
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        let key = text("address").rsplit('/').next().unwrap_or_default().to_owned();
        found.entry(key).or_default().push((text("code"), text("message")));
    }
    found
}

/// A manifest with a push for each row: its schedule, its audience and its text.
fn pushes(rows: &[(&str, &str, &str)]) -> String {
    let push = |(at, (schedule, audience, alert)): (usize, &(&str, &str, &str))| {
        let alert = serde_json::to_string(alert).expect("a text");
        format!(
            "  p{at}:\n    schedule: {schedule}\n    push: {{audience: {audience}, device_types: [open::sms], notification: {{alert: {alert}}}}}\n"
        )
    };
    format!("scheduled_pushes:\n{}", rows.iter().enumerate().map(push).collect::<String>())
}

/// Checks the codes of each row.
fn assert_codes(code: &str, rows: &[(&str, &str, &str)]) {
    let found = found(&Folder::project(&pushes(rows)));
    for (at, row) in rows.iter().enumerate() {
        let codes: Vec<&str> =
            found.get(&format!("p{at}")).into_iter().flatten().map(|(code, _)| code.as_str()).collect();
        let expected: &[&str] = if code.is_empty() { &[] } else { &[code] };
        assert_eq!(codes, expected, "{row:?} {found:#?}");
    }
}

const TAG: &str = "{tag: newsletter}";
/// 20 November 2026 is a Friday.
const FRIDAY: &str = "{local_scheduled_time: 2026-11-20T09:00}";
const SATURDAY: &str = "{local_scheduled_time: 2026-11-21T09:00}";
const SUNDAY: &str = "{local_scheduled_time: 2026-11-22T09:00}";
const EVENING: &str = "{local_scheduled_time: 2026-11-20T20:00}";
const NEW_YORK: &str = "{scheduled_time: 2026-11-20T09:00, time_zone: America/New_York}";
const UTC: &str = "{scheduled_time: 2026-11-20T20:00}";
const SUNDAY_NIGHT: &str = "{scheduled_time: 2026-11-22T20:00, time_zone: America/New_York}";
const SYDNEY: &str = "{timezone: [America/New_York, Australia/Sydney]}";

#[test]
fn a_text_that_names_another_day_than_that_of_its_send_time_is_reported() {
    assert_codes(
        "SC110",
        &[
            (SATURDAY, TAG, "Today is Friday"),
            (SATURDAY, TAG, "Happy Friday! The deals are out"),
            (SATURDAY, TAG, "It’s Friday, and the deals are out"),
            (SATURDAY, TAG, "Thank God it's Friday"),
            (SATURDAY, TAG, "TGIF: the deals are out"),
            (SATURDAY, TAG, "Friday deals are here"),
            (SATURDAY, TAG, "The sale ends today, Sunday"),
            (SUNDAY, TAG, "Only tomorrow, Tuesday"),
            (SATURDAY, TAG, "Nur heute, Freitag"),
            (SATURDAY, TAG, "Heute ist Sonntag"),
            (SATURDAY, TAG, "Endlich Freitag"),
            (SATURDAY, TAG, "Morgen (Montag) beginnt der Schlussverkauf"),
            (SATURDAY, TAG, "Aujourd’hui, vendredi, tout est soldé"),
            (SATURDAY, TAG, "Demain c'est lundi"),
            (SATURDAY, TAG, "Nous sommes vendredi"),
            (SATURDAY, TAG, "Only today, 22 November"),
            (SATURDAY, TAG, "Nur heute, 22.11."),
            (SUNDAY, TAG, "The sale runs until Sunday"),
            (SUNDAY, TAG, "Nur noch bis Sonntag"),
            (EVENING, TAG, "Good morning"),
            (EVENING, TAG, "The shop opens this morning"),
            (EVENING, TAG, "Ce matin, tout est soldé"),
            (FRIDAY, TAG, "Guten Abend"),
            // It is Saturday in Sydney.
            (NEW_YORK, SYDNEY, "Happy Friday"),
            (NEW_YORK, SYDNEY, "Only today"),
            (NEW_YORK, SYDNEY, "Good morning"),
            (NEW_YORK, "all", "Happy Saturday"),
            (NEW_YORK, SYDNEY, "Only on Friday"),
            (SATURDAY, TAG, "Only on Friday: 20% off"),
            (SATURDAY, TAG, "Only this Friday"),
            (SATURDAY, TAG, "20% off, on Friday only"),
            (SATURDAY, TAG, "Nur am Freitag"),
            (SATURDAY, TAG, "Nur noch diesen Freitag"),
            (SATURDAY, TAG, "Uniquement vendredi"),
            (SATURDAY, TAG, "Vendredi seulement"),
            (SUNDAY, TAG, "Jusqu'à dimanche"),
            (SUNDAY, TAG, "Jusqu’à ce dimanche"),
            (SUNDAY, TAG, "Bis diesen Sonntag"),
            // It is Monday in Sydney.
            (SUNDAY_NIGHT, SYDNEY, "Until Sunday"),
            (SUNDAY_NIGHT, SYDNEY, "Jusqu'à dimanche"),
            // It is Friday or Saturday in every time zone.
            (UTC, TAG, "Happy Sunday"),
        ],
    );
}

#[test]
fn a_text_that_fits_its_send_time_or_only_names_a_day_is_not_reported() {
    assert_codes(
        "",
        &[
            (FRIDAY, TAG, "Today is Friday"),
            (FRIDAY, TAG, "Happy Friday! The deals are out"),
            (FRIDAY, TAG, "Friday deals are here"),
            (FRIDAY, TAG, "The sale ends today"),
            (FRIDAY, TAG, "Only tomorrow, Saturday"),
            (FRIDAY, TAG, "Open today, Saturday and Sunday"),
            (FRIDAY, TAG, "The sale runs until Sunday"),
            (FRIDAY, TAG, "See you this Sunday"),
            (FRIDAY, TAG, "On Sunday, everything is half the price"),
            (FRIDAY, TAG, "Heute ist Freitag, morgen ist Samstag"),
            (SUNDAY, TAG, "Open Monday until Sunday"),
            (SUNDAY, TAG, "The sale runs until Sunday 20:00"),
            (SATURDAY, TAG, "Black Friday starts now"),
            (SATURDAY, TAG, "Black Friday deals are here"),
            (SATURDAY, TAG, "It's Black Friday week"),
            (SATURDAY, TAG, "Happy Easter Monday"),
            (SATURDAY, TAG, "Happy Sunday eve"),
            (SATURDAY, TAG, "Read https://example.com/happy-friday or happy-friday"),
            (SATURDAY, TAG, "Le Black Friday, c'est vendredi"),
            (FRIDAY, TAG, "Tonight at eight"),
            (FRIDAY, TAG, "Good morning"),
            (EVENING, TAG, "This morning's winners"),
            (EVENING, TAG, "All that you missed this morning"),
            (EVENING, TAG, "Guten Abend"),
            (NEW_YORK, "all", "Good morning, it's Friday. Only today"),
            (FRIDAY, TAG, "Only on Friday"),
            (FRIDAY, TAG, "Friday only: everything is half the price"),
            (FRIDAY, TAG, "Only on Saturday, in all shops"),
            (FRIDAY, TAG, "Uniquement dimanche"),
            (SATURDAY, TAG, "Not only on Friday"),
            (SATURDAY, TAG, "Only on Friday and Saturday"),
            (SATURDAY, TAG, "Only on Friday 27 November"),
            (SATURDAY, TAG, "Only on Fridays"),
            (SATURDAY, TAG, "Black Friday only"),
            (UTC, TAG, "Only on Friday"),
            (FRIDAY, TAG, "Jusqu'à dimanche"),
            (SATURDAY, SYDNEY, "Until Sunday"),
            (UTC, TAG, "Happy Saturday. Good morning, only today"),
            (FRIDAY, TAG, "Only 22.11 and 9.10 for you"),
        ],
    );
}

#[test]
fn dates_in_a_text_are_compared_with_the_calendar_and_the_send_time() {
    assert_codes(
        "SC111",
        &[
            (FRIDAY, TAG, "The sale ends Sunday, 23 November"),
            (FRIDAY, TAG, "On Saturday, November 22, everything is half the price"),
            (FRIDAY, TAG, "Sun 23 Nov, 10:00"),
            (FRIDAY, TAG, "Am Sonntag, den 23. November"),
            (FRIDAY, TAG, "So 23.11."),
            (FRIDAY, TAG, "Dimanche 23 novembre"),
            (FRIDAY, TAG, "Sunday the 23rd of November 2026"),
            (FRIDAY, TAG, "Only until 19 November"),
            (FRIDAY, TAG, "Nur noch bis 19.11."),
            (FRIDAY, TAG, "Jusqu'au 19 novembre"),
            (FRIDAY, TAG, "The sale ends on 2026-11-19"),
            (FRIDAY, TAG, "The sale starts Nov 19"),
        ],
    );
    assert_codes(
        "",
        &[
            (FRIDAY, TAG, "The sale ends Sunday, 22 November"),
            (FRIDAY, TAG, "Am Sonntag, den 22. November"),
            (FRIDAY, TAG, "Only until 20 November"),
            (FRIDAY, TAG, "Only until 3 January"),
            (FRIDAY, TAG, "Nur noch bis 22.11."),
            (FRIDAY, TAG, "You ordered it on 12 November"),
            (FRIDAY, TAG, "See you Sunday. 23 November is another day"),
            (FRIDAY, TAG, "Today, 20 November, and tomorrow, 21 November"),
            (FRIDAY, TAG, "You may 19 times try, by 9.10 or 1.1."),
        ],
    );
}

#[test]
fn texts_from_templates_files_and_titles_are_read_and_the_finding_names_both_clocks() {
    let folder = Folder::project(
        "segments:\n  down-under: {criteria: {timezone: [America/New_York, Australia/Sydney]}}\n\
         templates:\n  hello: {variables: [{key: DAY, default_value: day}], push: {notification: {alert: \"Happy {{DAY}}\"}}}\n\
         scheduled_pushes:\n  template:\n    schedule: {scheduled_time: 2026-11-27T09:00, time_zone: America/New_York}\n    \
         push: {audience: {segment: down-under}, device_types: [ios], template: hello, substitutions: {DAY: Friday}}\n  \
         body:\n    schedule: {local_scheduled_time: 2026-11-28T09:00}\n    push:\n      audience: {tag: x}\n      device_types: [ios]\n      \
         notification: {alert: Hi}\n      message: {title: Today is Sunday, body: {file: bodies/hello.html}}\n\
         experiments:\n  test:\n    audience: {tag: x}\n    device_types: [ios]\n    variants:\n      \
         - {push: {notification: {alert: Happy Friday}}, schedule: {local_scheduled_time: 2026-11-27T09:00}}\n      \
         - {push: {notification: {alert: Happy Monday}}, schedule: {local_scheduled_time: 2026-11-27T09:00}}\n",
    );
    folder.write("bodies/hello.html", "<h1>Hello</h1>\n<p>It&#39;s Friday</p><p>Ends Saturday 29 November</p>\n");
    let ran = folder.run(&["validate", "--now", "2026-11-15T12:00Z"]);
    for words in [
        "the text says \"Happy Friday\", but it is sent Fri 27 Nov 09:00 in New York, which is Sat 28 Nov 01:00 in Sydney",
        "the text says \"Today is Sunday\", but it is sent Sat 28 Nov 09:00 in recipients' local time",
        "the text says \"It's Friday\", but it is sent Sat 28 Nov 09:00 in recipients' local time",
        "the text says \"Saturday 29 November\", but 29 November 2026 is a Sunday",
        "write Sunday, or 28 November, which is a Saturday",
        "the text says \"Happy Monday\", but it is sent Fri 27 Nov 09:00 in recipients' local time",
    ] {
        assert_eq!(ran.stdout.matches(words).count(), 1, "{words}\n{}", ran.stdout);
    }
    assert_eq!(ran.stdout.matches("warning[SC11").count(), 5, "{}", ran.stdout);
}

#[test]
fn a_text_in_another_language_than_the_audience_is_reported() {
    let english = "All of your favourites are back in the shop";
    let german = "Alles was du magst ist jetzt wieder für dich da";
    let both = "{and: [{tag: newsletter}, {or: [{language: de}, {language: fr}]}]}";
    assert_codes(
        "MS118",
        &[
            (FRIDAY, "{language: de}", english),
            (FRIDAY, "{language: en}", german),
            (FRIDAY, "{language: ja}", english),
            (FRIDAY, both, english),
        ],
    );
    assert_codes(
        "",
        &[
            (FRIDAY, "{language: de}", german),
            (FRIDAY, "{language: en}", english),
            (FRIDAY, both, german),
            (FRIDAY, TAG, english),
            (FRIDAY, "{not: {language: de}}", english),
            (FRIDAY, "{or: [{language: de}, {tag: newsletter}]}", english),
            // A language that is similar to a known one.
            (FRIDAY, "{language: da}", "Vi er her for dig og din familie i dag"),
            (FRIDAY, "{language: de}", "Black Friday Sale: 20 % Rabatt, jetzt shoppen"),
            (FRIDAY, "{language: de}", "The sale is on"),
        ],
    );
}

#[test]
fn a_host_that_is_easily_mistaken_for_another_is_reported() {
    let texts = [
        "Sale: https://shop.example.com/a",
        "More: https://shop.example.com/b",
        "Typo: https://shop.exmaple.com/c",
        "Here: http://203.0.113.7/d",
        "Else: https://other.org/e",
        "Next: https://shop2.example.com/f",
    ];
    let found = found(&Folder::project(&pushes(&texts.map(|text| (FRIDAY, TAG, text)))));
    let expected = [
        ("p2", "`shop.exmaple.com` looks like `shop.example.com`, which 2 resources link to"),
        ("p3", "the link leads to the IP address 203.0.113.7, not to a name"),
    ];
    let expected = expected.map(|(key, words)| (key.to_owned(), vec![("MS119".to_owned(), words.to_owned())]));
    assert_eq!(found, expected.into());
}
