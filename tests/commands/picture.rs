//! The picture of the README: a plan in a pull request, and what people will see. Both are drawn from what the program
//! prints. `PUSHPLAN_BLESS=1 cargo test --test commands picture` draws it again.

use std::fmt::Write;

use pushplan_testing::{Project, golden};

const FILE: &str = "docs/picture.svg";

const BEFORE: &str = "\
segments:
  north-america:
    criteria: {country: [US, CA]}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-03-05T10:00, time_zone: America/New_York}
    push:
      audience: {segment: north-america}
      device_types: [ios, android]
      notification: {alert: \"10% off everything today\"}
";

const STYLE: &str = "\
.page{fill:#fff;stroke:#d0d7de}.bar{fill:#f6f8fa;stroke:#d0d7de}.ink{fill:#1f2328}.soft{fill:#59636e}\
.badge{fill:#fff8c5;stroke:#d4a72c}.old{fill:#b3261e;text-decoration:line-through}.new{fill:#116329}\
.wall{fill:#dbe7ff}.note{fill:#ffffff}.case{fill:none;stroke:#8c959f;stroke-width:6}\
text{font:14px -apple-system,'Segoe UI',Helvetica,Arial,sans-serif}.mono{font:13px ui-monospace,Menlo,Consolas,monospace}\
.strong{font-weight:600}.small{font-size:12px}.clock{font-size:44px;font-weight:300}\
@media(prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#3d444d}.bar{fill:#151b23;stroke:#3d444d}.ink{fill:#f0f6fc}\
.soft{fill:#9198a1}.badge{fill:#342a03;stroke:#9e6a03}.old{fill:#ff9492}.new{fill:#7ee2a8}\
.wall{fill:#1b2a4a}.note{fill:#26334d}.case{stroke:#656c76}}";

/// The row of the comment about one message.
struct Row {
    change: String,
    address: String,
    text: String,
    who: Vec<String>,
    when: String,
}

/// Markdown as readers see it: without marks of code and bold, and with entities replaced.
fn read(markdown: &str) -> String {
    let mut text = markdown.replace(['`', '*'], "");
    for (number, character) in [("&#34;", "\""), ("&#91;", "["), ("&#93;", "]"), ("&#39;", "'"), ("&amp;", "&")] {
        text = text.replace(number, character);
    }
    assert!(!text.contains("&#"), "another character stands as its number: {text}");
    text
}

/// The only message in a comment.
fn row(comment: &str) -> Row {
    let rows: Vec<&str> = comment.lines().filter(|line| line.starts_with("| **")).collect();
    let [row] = rows[..] else { panic!("one message changes: {comment}") };
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let [head, text, who, when] = cells[..] else { panic!("four cells: {row}") };
    let head = read(head);
    let (change, address) = head.split_once(' ').expect("a change and an address");
    Row {
        change: change.to_owned(),
        address: address.to_owned(),
        text: read(text),
        who: who.split("<br>").map(read).collect(),
        when: read(when),
    }
}

/// The lines of a lock screen in a preview, without its frame.
fn lock_screen(preview: &str) -> Vec<String> {
    let framed = preview.lines().filter_map(|line| line.trim().strip_prefix('│')?.strip_suffix('│'));
    let lines: Vec<String> = framed.map(|line| line.trim().to_owned()).collect();
    assert!(lines.len() >= 2, "a name and a text: {preview}");
    lines
}

/// A text wrapped to lines of at most `most` characters.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A changed text with removed and added words: `off [-today-]{+this weekend+}`.
fn marked(text: &str) -> String {
    let text = escaped(text);
    let text = text.replace("[-", "<tspan class=\"old\">").replace("-]", "</tspan> ");
    text.replace("{+", "<tspan class=\"new\">").replace("+}", "</tspan>")
}

fn drawn(verdict: &str, title: &str, row: &Row, screen: &[String]) -> String {
    let mut out = String::new();
    let mut line = |x: usize, y: usize, class: &str, text: &str| {
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>");
    };
    line(34, 39, "ink", "<tspan class=\"strong\">pushplan</tspan> commented on the pull request");
    line(34, 82, "ink strong", &escaped(title));
    let mut y = 108;
    for text in wrapped(verdict, 74) {
        line(34, y, "ink", &escaped(&text));
        y += 22;
    }
    y += 18;
    line(44, y, "ink small strong", &escaped(&row.change));
    let badge = y;
    line(110, y, "ink mono", &escaped(&row.address));
    y += 26;
    line(110, y, "ink", &marked(&row.text));
    for who in &row.who {
        for text in wrapped(who, 60) {
            y += 22;
            line(110, y, "soft", &escaped(&text));
        }
    }
    y += 22;
    line(110, y, "soft", &escaped(&row.when));
    let page = y + 14;
    // The lock screen, at the time of the message.
    let words: Vec<&str> = row.when.split(' ').collect();
    let [day, date, month, _, time, ..] = words[..] else { panic!("a time: {}", row.when) };
    line(746, 84, "ink\" text-anchor=\"middle", &format!("{day} {date} {month}"));
    line(746, 130, "ink clock\" text-anchor=\"middle", time);
    let (name, now) = screen[0].split_once("  ").expect("a name and a time");
    line(654, 178, "soft small strong", &escaped(name));
    line(838, 178, "soft small\" text-anchor=\"end", &escaped(now.trim()));
    let mut below = 178;
    for text in screen[1..].iter().flat_map(|text| wrapped(text, 27)) {
        below += 20;
        line(654, below, "ink", &escaped(&text));
    }
    let height = page.max(below + 60) + 20;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"880\" height=\"{height}\" viewBox=\"0 0 880 {height}\" role=\"img\">\n\
         <title>A plan in a pull request, beside the lock screen that people will see</title>\n<style>{STYLE}</style>\n"
    );
    let card = height - 32;
    let _ = writeln!(svg, "<rect x=\"16\" y=\"16\" width=\"586\" height=\"{card}\" rx=\"8\" class=\"page\"/>");
    let _ = writeln!(svg, "<path d=\"M16 54V24a8 8 0 0 1 8-8H594a8 8 0 0 1 8 8V54Z\" class=\"bar\"/>");
    let _ = writeln!(svg, "<rect x=\"34\" y=\"{}\" width=\"62\" height=\"20\" rx=\"4\" class=\"badge\"/>", badge - 15);
    let _ = writeln!(svg, "<rect x=\"630\" y=\"19\" width=\"232\" height=\"{}\" rx=\"28\" class=\"wall\"/>", card - 6);
    let _ = writeln!(svg, "<rect x=\"630\" y=\"19\" width=\"232\" height=\"{}\" rx=\"28\" class=\"case\"/>", card - 6);
    let _ =
        writeln!(svg, "<rect x=\"642\" y=\"158\" width=\"208\" height=\"{}\" rx=\"12\" class=\"note\"/>", below - 144);
    svg + &out + "</svg>\n"
}

#[test]
fn the_picture_shows_what_the_program_prints() {
    let project = Project::new(BEFORE);
    project.folder.write("pushplan.toml", "[project]\nname = \"shop\"\n[targets.production]\nbuilt_in = true\n");
    project.good(&["apply", "--yes"]);
    project.edit("US, CA", "US, CA, GB");
    project.edit("today", "this weekend");
    let comment = project.good(&["plan", "--format", "markdown"]).stdout;
    let mut head = comment.lines().skip_while(|line| !line.starts_with("## "));
    let title = head.next().expect("a title").trim_start_matches("## ").to_owned();
    let verdict = read(head.next().expect("a verdict"));
    let preview = project.good(&["preview", "scheduled_pushes/sale", "--device", "iphone"]).stdout;
    golden(FILE, &drawn(&verdict, &title, &row(&comment), &lock_screen(&preview)));
}
