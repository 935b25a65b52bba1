//! Metrics in Prometheus' text format, version 0.0.4.

use std::fmt::{Display, Write};

use crate::reconcile::{Counts, Histogram, Metrics};

/// The media type of the text.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics. `fixes`: drift is corrected, not only reported.
pub fn text(metrics: &Metrics, fixes: bool) -> String {
    let Metrics { last_success, last_fine: _, last: _, failures, targets, runs, steps, requests, posted, not_posted } =
        metrics;
    let mut page = MetricsPage::default();

    page.family("pushplan_build_info", "gauge", "Version of pushplan and its mode for drift.");
    let mode = if fixes { "fix" } else { "report" };
    page.sample("", &[("version", env!("CARGO_PKG_VERSION")), ("drift", mode)], 1);

    let name = "pushplan_last_success_timestamp_seconds";
    page.family(name, "gauge", "Unix time of the last successful round; 0 if none.");
    page.sample("", &[], last_success.map_or(0.0, |at| at.as_millisecond() as f64 / 1000.0));

    page.family("pushplan_failures_in_a_row", "gauge", "Failed rounds since the last successful one.");
    page.sample("", &[], failures);

    let mut gauge = |name: &'static str, help: &str, of: fn(&Counts) -> usize| {
        page.family(name, "gauge", help);
        for (target, counts) in targets {
            page.sample("", &[("target", target)], of(counts));
        }
    };
    gauge("pushplan_drift", "Resources that differ from the manifests.", |counts| counts.drift);
    gauge("pushplan_drift_edited", "Resources that were changed or removed on the service.", |counts| counts.edited);
    gauge("pushplan_drift_refused", "Guards that refuse the changes.", |counts| counts.refused);

    page.family("pushplan_runs_total", "counter", "Rounds by result.");
    for (outcome, count) in runs {
        page.sample("", &[("outcome", outcome.word())], count);
    }

    page.family("pushplan_steps_total", "counter", "Steps done, by action.");
    for ((action, is_done), count) in steps {
        page.sample("", &[("action", action), ("result", if *is_done { "done" } else { "not_done" })], count);
    }

    page.family("pushplan_webhook_posts_total", "counter", "Reports to the webhook, by result.");
    page.sample("", &[("result", "done")], posted);
    page.sample("", &[("result", "not_done")], not_posted);

    let name = "pushplan_request_duration_seconds";
    page.family(name, "histogram", "Duration of requests to the service, up to the end of the response.");
    for (method, histogram) in requests {
        page.histogram(method, histogram);
    }
    page.text
}

#[derive(Default)]
struct MetricsPage {
    text: String,
    name: &'static str,
}

impl MetricsPage {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        // Writing to a string cannot fail.
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, end: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{}{end}{labels} {value}", self.name);
    }

    fn histogram(&mut self, method: &str, histogram: &Histogram) {
        for (bound, count) in histogram.up_to() {
            self.sample("_bucket", &[("method", method), ("le", &bound.to_string())], count);
        }
        self.sample("_bucket", &[("method", method), ("le", "+Inf")], histogram.count);
        self.sample("_sum", &[("method", method)], histogram.sum.as_secs_f64());
        self.sample("_count", &[("method", method)], histogram.count);
    }
}

/// The value of a label, escaped for the format.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::*;
    use crate::reconcile::RoundOutcome;

    #[test]
    fn metrics_are_a_page_that_prometheus_reads() {
        let mut metrics = Metrics::new();
        metrics.ended(RoundOutcome::Drift, Timestamp::from_second(1_800_000_000).expect("a time"));
        metrics.targets.insert("a\"b\\c".into(), Counts { drift: 2, edited: 1, refused: 0 });
        metrics.request("GET", Duration::from_millis(30));
        let text = text(&metrics, true);
        for line in [
            concat!("pushplan_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\",drift=\"fix\"} 1"),
            "# TYPE pushplan_last_success_timestamp_seconds gauge",
            "pushplan_last_success_timestamp_seconds 1800000000",
            r#"pushplan_drift{target="a\"b\\c"} 2"#,
            r#"pushplan_drift_edited{target="a\"b\\c"} 1"#,
            r#"pushplan_runs_total{outcome="drift"} 1"#,
            r#"pushplan_runs_total{outcome="failed"} 0"#,
            r#"pushplan_steps_total{action="update",result="done"} 0"#,
            "# TYPE pushplan_request_duration_seconds histogram",
            r#"pushplan_request_duration_seconds_bucket{method="GET",le="0.025"} 0"#,
            r#"pushplan_request_duration_seconds_bucket{method="GET",le="0.05"} 1"#,
            r#"pushplan_request_duration_seconds_bucket{method="GET",le="+Inf"} 1"#,
            r#"pushplan_request_duration_seconds_sum{method="GET"} 0.03"#,
            r#"pushplan_request_duration_seconds_count{method="GET"} 1"#,
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is missing in:\n{text}");
        }
        assert!(text.ends_with('\n'));
    }
}
