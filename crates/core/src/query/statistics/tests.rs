use super::*;
use serde_json::json;

#[test]
fn a_moment_is_a_day_or_a_time_in_utc() {
    let day = jiff::civil::date(2026, 11, 1);
    assert_eq!(Moment::parse("2026-11-01").expect("a day"), Moment::Day(day));
    for written in ["2026-11-01 09:05", "2026-11-01T09:05", "2026-11-01T09:05Z", "2026-11-01 09:05:00"] {
        assert_eq!(Moment::parse(written).expect(written), Moment::At(day.at(9, 5, 0, 0)), "{written}");
    }
    for wrong in ["", "yesterday", "2026-11-31", "2026-11-01T25:00", "2026-11-01T09:00+02:00", "11/01/2026", "T", ":"] {
        assert!(Moment::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn paths_are_as_the_contract_has_them() {
    let (from, to) = (Moment::parse("2026-11-01").expect("a day"), Moment::parse("2026-11-02T09:00").expect("a time"));
    assert_eq!(
        by_period(Statistic::TimeInApp, from, to, Precision::Hourly),
        "/api/reports/timeinapp/?start=2026-11-01&end=2026-11-02%2009%3A00&precision=HOURLY"
    );
    assert_eq!(of_pushes(from, to), "/api/reports/responses/list?start=2026-11-01&end=2026-11-02%2009%3A00");
    assert_eq!(of_push("../x"), "/api/reports/responses/..%2Fx");
    assert_eq!(of_devices(None), "/api/reports/devices/");
}

#[test]
fn a_time_with_seconds_requests_whole_minutes_and_keeps_its_seconds() {
    let moment = |text| Moment::parse(text).expect("a time");
    let (from, to) = (moment("2026-11-01T09:00:30"), moment("2026-11-01T09:59:45"));
    let path = "/api/reports/responses/list?start=2026-11-01%2009%3A00&end=2026-11-01%2010%3A00";
    assert_eq!(of_pushes(from, to), path);
    assert!(by_period(Statistic::Sends, from, to, Precision::Hourly).contains("end=2026-11-01%2010%3A00&"));
    assert_eq!((from.to_string(), to.to_string()), ("2026-11-01 09:00:30".into(), "2026-11-01 09:59:45".into()));
    let push = |time: &str| Push { time: Some(time.into()), ..Push::default() };
    for (time, is_in) in [("09:00:29", false), ("09:00:30", true), ("09:59:45", true), ("09:59:46", false)] {
        assert_eq!(within(&push(&format!("2026-11-01 {time}")), from, to), is_in, "{time}");
    }
    assert!(within(&Push::default(), from, to));
    // Without seconds, the service decides.
    assert!(within(&push("2026-11-01 10:00:20"), moment("2026-11-01T09:00"), moment("2026-11-01T10:00")));
}

#[test]
fn pages_become_one_report_with_totals() {
    let first = json!({"sends": [{"date": "2026-11-01 00:00:00", "android": 2, "ios": 1, "web": null}]});
    let second = json!({"sends": [{"date": "2026-11-02", "android": 0, "ios": 5.0, "amazon": 1}]});
    let made = periods(Statistic::Sends, &[first, second]).expect("a report");
    assert_eq!(made.columns, ["ios", "android", "amazon"]);
    assert_eq!(made.total, 9);
    assert_eq!(made.totals["ios"], 6);
    assert_eq!(made.rows[1].date, "2026-11-02 00:00:00");
    assert_eq!(periods(Statistic::Sends, &[json!({"sends": []})]).expect("a report"), Periods::default());
}

#[test]
fn the_total_of_responses_is_of_the_direct_ones() {
    let body = json!({"responses": [
        {"date": "2026-11-01 00:00:00", "ios": {"direct": 1, "influenced": 10}, "android": {"direct": 2, "influenced": 20}}]});
    let made = periods(Statistic::Responses, &[body]).expect("a report");
    assert_eq!(made.columns, ["ios_direct", "ios_influenced", "android_direct", "android_influenced"]);
    assert_eq!(made.rows[0].total, 3);
}

#[test]
fn what_is_no_report_is_told() {
    for body in [json!(null), json!({}), json!({"sends": 7}), json!({"opens": []})] {
        assert!(periods(Statistic::Sends, std::slice::from_ref(&body)).is_err(), "{body}");
    }
    for item in
        [json!({"ios": 1}), json!({"date": "::error::", "ios": 1}), json!({"date": "2026-11-01", "ios": -1}), json!(7)]
    {
        let body = json!({"sends": [item]});
        assert!(periods(Statistic::Sends, std::slice::from_ref(&body)).is_err(), "{body}");
    }
    let most = json!({"sends": [{"date": "2026-11-01", "ios": u64::MAX, "android": u64::MAX}]});
    assert_eq!(periods(Statistic::Sends, &[most]).expect("a report").total, u64::MAX);
}

#[test]
fn devices_and_pushes_are_read_in_both_forms() {
    let body = json!({"counts": {"web": {"unique_devices": 1}, "android": {"unique_devices": 2}, "ios": {}}});
    let made = devices(&body).expect("devices");
    assert_eq!(made.total_unique_devices, 3);
    assert_eq!(made.platforms.iter().map(|one| one.platform.as_str()).collect::<Vec<_>>(), ["ios", "android", "web"]);
    assert!(devices(&json!({"counts": []})).is_err());

    let one = push(&json!({"push_id": "p", "push_time": "2026-11-01 09:00:00", "sends": 4})).expect("a push");
    assert_eq!((one.push_id.as_str(), one.time.as_deref()), ("p", Some("2026-11-01 09:00:00")));
    assert_eq!(pushes(&[json!({"pushes": [{"push_uuid": "q"}]})]).expect("pushes")[0].push_id, "q");
    assert!(pushes(&[json!({"pushes": [{}]})]).is_err());
}
