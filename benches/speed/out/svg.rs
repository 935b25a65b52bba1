//! Seconds by the number of resources, both in powers of ten.

use std::fmt::Write;

use crate::project::Layout;
use crate::rounds::{Measured, Work};
use crate::table::{grouped, seconds};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
/// The space around the plot: left, top, right, bottom.
const LEFT: f64 = 74.0;
const TOP: f64 = 52.0;
const RIGHT: f64 = 196.0;
const BOTTOM: f64 = 54.0;

/// Colours that can be distinguished in light and in dark, also by people who see few.
const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1f2328}
.back{fill:#fff}.grid{stroke:#d8dee4;stroke-width:1}.small{font-size:12px;fill:#59636e}.title{font-size:15px;font-weight:600}
.line{fill:none;stroke-width:2.5}.many{stroke-dasharray:6 4}.dot{stroke:#fff;stroke-width:1.5}
.plan{stroke:#0969da}.floor{stroke:#57606a}.validate{stroke:#1a7f37}
.f-plan{fill:#0969da}.f-floor{fill:#57606a}.f-validate{fill:#1a7f37}.f-peer{fill:#bc4c00}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.grid{stroke:#30363d}.small{fill:#9198a1}
.dot{stroke:#0d1117}.plan{stroke:#58a6ff}.floor{stroke:#9198a1}.validate{stroke:#3fb950}
.f-plan{fill:#58a6ff}.f-floor{fill:#9198a1}.f-validate{fill:#3fb950}.f-peer{fill:#f0883e}}";

const LINES: [(Work, &str); 3] = [(Work::Validate, "validate"), (Work::Floor, "floor"), (Work::Plan, "plan")];
const PEERS: [(Work, &str); 2] = [(Work::ScriptPlan, "script"), (Work::OctoDns, "octoDNS")];

/// Where numbers are on the page.
struct Scale {
    sizes: (f64, f64),
    times: (i32, i32),
}

impl Scale {
    fn new(measured: &Measured, sizes: &[usize]) -> Self {
        let shown =
            |work: &Work| LINES.iter().any(|(line, _)| line == work) || PEERS.iter().any(|(peer, _)| peer == work);
        let times = measured.times.iter().filter(|((work, ..), _)| shown(work)).flat_map(|(_, seconds)| seconds);
        let (least, most) = times.fold((f64::MAX, f64::MIN), |(least, most), time| (least.min(*time), most.max(*time)));
        let ends = |size: Option<&usize>| size.map_or(1.0, |size| *size as f64).log10();
        let (first, last) = (ends(sizes.first()), ends(sizes.last()));
        Self {
            sizes: (first, last.max(first + 0.1)),
            times: (least.log10().floor() as i32, most.log10().ceil() as i32),
        }
    }

    fn x(&self, size: f64) -> f64 {
        let (first, last) = self.sizes;
        LEFT + (size.log10() - first) / (last - first) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, time: f64) -> f64 {
        let (least, most) = (f64::from(self.times.0), f64::from(self.times.1));
        HEIGHT - BOTTOM - (time.log10() - least) / (most - least) * (HEIGHT - TOP - BOTTOM)
    }
}

pub fn plot(measured: &Measured, sizes: &[usize]) -> String {
    let scale = Scale::new(measured, sizes);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Seconds by the number of resources\">\n<style>{STYLE}</style>\n\
         <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"28\">Time by the number of resources</text>\n"
    );
    axes(&mut out, &scale, sizes);
    for (work, class) in LINES {
        for layout in Layout::ALL {
            line(&mut out, &scale, measured, sizes, (work, class, layout));
        }
    }
    for (number, (work, words)) in PEERS.into_iter().enumerate() {
        for (size, time) in points(measured, sizes, (work, Layout::One)) {
            peer(&mut out, (scale.x(size), scale.y(time)), &format!("{words} {}", seconds(time)), number == 0);
        }
    }
    legend(&mut out);
    out.push_str("</svg>\n");
    out
}

fn axes(out: &mut String, scale: &Scale, sizes: &[usize]) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for power in scale.times.0..=scale.times.1 {
        let (time, y) = (10_f64.powi(power), scale.y(10_f64.powi(power)));
        let label = if time < 1.0 { format!("{} ms", (time * 1e4).round() / 10.0) } else { format!("{time} s") };
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
             <text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 10.0,
            y + 4.0
        );
    }
    for size in sizes {
        let x = scale.x(*size as f64);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
             <text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 20.0,
            grouped(*size as f64)
        );
    }
    let middle = (LEFT + right) / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"small\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">resources, about 20 lines each</text>",
        HEIGHT - 12.0
    );
}

/// The medians of something, by size.
fn points(measured: &Measured, sizes: &[usize], (work, layout): (Work, Layout)) -> Vec<(f64, f64)> {
    let median = |size: &usize| Some((*size as f64, measured.sample(work, *size, layout)?.median()));
    sizes.iter().filter_map(median).collect()
}

fn line(
    out: &mut String,
    scale: &Scale,
    measured: &Measured,
    sizes: &[usize],
    (work, class, layout): (Work, &str, Layout),
) {
    let places: Vec<(f64, f64)> = points(measured, sizes, (work, layout))
        .into_iter()
        .map(|(size, time)| (scale.x(size), scale.y(time)))
        .collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(out, "<polyline class=\"line {class} {}\" points=\"{}\"/>", layout.key(), path.join(" "));
    for (x, y) in places {
        let _ = writeln!(out, "<circle class=\"f-{class} dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
    }
}

/// A square with words beside it: on its left where there is room and that is asked for.
fn peer(out: &mut String, (x, y): (f64, f64), words: &str, left: bool) {
    let (at, anchor) = if left && x > LEFT + 150.0 { (x - 12.0, "end") } else { (x + 12.0, "start") };
    let _ = writeln!(
        out,
        "<rect class=\"f-peer dot\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>\n\
         <text class=\"small\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{words}</text>",
        x - 5.0,
        y - 5.0,
        y + 4.0
    );
}

fn legend(out: &mut String) {
    let (x, mut y) = (WIDTH - RIGHT + 24.0, TOP + 12.0);
    for (work, class) in LINES.iter().rev() {
        for layout in Layout::ALL {
            let _ = writeln!(
                out,
                "<line class=\"line {class} {}\" x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/><text x=\"{}\" y=\"{}\">{}, {}</text>",
                layout.key(),
                x + 30.0,
                x + 38.0,
                y + 4.5,
                work.words(),
                layout.words()
            );
            y += 24.0;
        }
    }
}
