use super::*;
use crate::query::statistics::{devices, periods, push};
use crate::render::Style;
use serde_json::json;

const STYLE: Style = Style { width: 60, ..Style::PLAIN };

fn shown(report: Statistic, body: &serde_json::Value, look: impl Fn(&StatisticsView) -> String) -> String {
    let periods = periods(report, std::slice::from_ref(body)).expect("a report");
    let day = |text| Moment::parse(text).expect("a day");
    let (from, to) = (day("2026-11-01"), day("2026-11-03"));
    let shown = ByPeriod { report, precision: Precision::Daily, from, to, periods: &periods };
    look(&StatisticsView { target: "prod", shown: ShownStatistics::Periods(shown) })
}

fn sends() -> serde_json::Value {
    json!({"sends": [
        {"date": "2026-11-01 00:00:00", "ios": 1000, "android": 200},
        {"date": "2026-11-02 00:00:00", "ios": 0, "android": 0},
        {"date": "2026-11-03 00:00:00", "ios": 300, "android": 0}]})
}

#[test]
fn a_report_is_a_table_with_a_plot_and_totals() {
    let expected = "\
prod: sends, daily, 2026-11-01 to 2026-11-03 (UTC)

date          ios  android  total
2026-11-01  1,000      200  1,200  █████████████████████████
2026-11-02      0        0      0
2026-11-03    300        0    300  ██████▎
total       1,300      200  1,500

The service counts only ios and android here.
";
    assert_eq!(shown(Statistic::Sends, &sends(), |view| text(view, STYLE)), expected);
}

#[test]
fn every_width_from_20_columns_on_holds_every_number() {
    for width in 20..=100 {
        for ascii in [false, true] {
            let text = shown(Statistic::Sends, &sends(), |view| text(view, Style { width, ascii, ..STYLE }));
            for number in ["1,200", "300", "1,300", "1,500", "2026-11-02"] {
                assert!(text.contains(number), "{width}: {text}");
            }
            assert!(text.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= width), "{width}: {text}");
            assert!(!ascii || text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn nothing_is_said_in_one_sentence() {
    let none = json!({"opens": [{"date": "2026-11-01", "ios": 0}, {"date": "2026-11-02", "ios": 0}]});
    let said = shown(Statistic::Opens, &none, |view| text(view, STYLE));
    assert_eq!(said, "prod: opens of the app, daily, 2026-11-01 to 2026-11-03\n(UTC). None in 2 days.\n");
    let said = shown(Statistic::Opens, &json!({"opens": []}), |view| text(view, STYLE));
    assert!(said.ends_with("None in 0 days.\n"), "{said}");
    assert_eq!(shown(Statistic::Opens, &json!({"opens": []}), csv), "date,total\r\n");
}

#[test]
fn seconds_are_shown_as_a_clock_and_left_alone_for_programs() {
    let body = json!({"timeinapp": [{"date": "2026-11-01", "ios": 3661, "android": 59}]});
    let told = shown(Statistic::TimeInApp, &body, |view| text(view, STYLE));
    assert!(told.contains("1:01:01  0:00:59  1:02:00"), "{told}");
    assert_eq!(
        shown(Statistic::TimeInApp, &body, csv),
        "date,ios,android,total\r\n2026-11-01 00:00:00,3661,59,3720\r\n"
    );
    assert!(shown(Statistic::TimeInApp, &body, json::json).contains("\"unit\": \"seconds\""));
}

#[test]
fn direct_and_influenced_responses_have_their_own_columns() {
    let body = json!({"responses": [
        {"date": "2026-11-01", "ios": {"direct": 1, "influenced": 10}, "android": {"direct": 2, "influenced": 20}}]});
    let told = shown(Statistic::Responses, &body, |view| text(view, Style { width: 100, ..STYLE }));
    assert!(told.contains("ios direct  ios influenced  android direct  android influenced  direct\n"), "{told}");
    assert!(
        told.contains("2026-11-01           1              10               2                  20       3"),
        "{told}"
    );
}

#[test]
fn devices_are_counted_by_platform() {
    let body = json!({"total_unique_devices": 7, "date_closed": "2026-11-01T23:59:59.999Z", "counts": {
        "ios": {"unique_devices": 4, "opted_in": 3, "opted_out": 1, "uninstalled": 2},
        "=cmd": {"unique_devices": 3, "opted_in": 3}}});
    let devices = devices(&body).expect("devices");
    let view = StatisticsView { target: "prod", shown: ShownStatistics::Devices(&devices) };
    let told = text(&view, Style { width: 80, ..STYLE });
    assert!(told.contains("ios             4         3          1            2  █"), "{told}");
    assert!(told.contains("total           7         6          1            2\n"), "{told}");
    assert!(csv(&view).ends_with("'=cmd,3,3,0,0\r\n"));
}

#[test]
fn pushes_are_listed_and_one_is_told_in_full() {
    let record = json!({"push_uuid": "p-1", "push_time": "2026-11-01 09:00:00", "push_type": "SCHEDULED_PUSH",
        "sends": 1000, "direct_responses": 125});
    let one = push(&record).expect("a push");
    let unheard = Push { push_id: "p-2".into(), time: None, sends: 0, direct_responses: 0, ..one.clone() };
    let day = Moment::parse("2026-11-01").expect("a day");
    let all = [one.clone(), unheard.clone()];
    let told = text(&StatisticsView { target: "prod", shown: ShownStatistics::Pushes(day, day, &all) }, STYLE);
    assert!(told.contains("2026-11-01 09:00  scheduled  1,000     125  12.5 %  p-1"), "{told}");
    assert!(told.contains("unknown           scheduled      0       0          p-2\n"), "{told}");
    let told = text(&StatisticsView { target: "prod", shown: ShownStatistics::Push(&one) }, STYLE);
    assert!(told.contains("direct responses  125, 12.5 %"), "{told}");
    let told = text(&StatisticsView { target: "prod", shown: ShownStatistics::Push(&unheard) }, STYLE);
    assert!(told.contains("it reached no device"), "{told}");
}
