//! Pages for a browser: one file each, without script and external content.

pub mod phone;
pub mod report;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The content security policy of a page: only its own styles.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A whole page. `css` belongs to the program, never to a manifest.
pub fn page(title: &str, css: &str, body: &Markup) -> String {
    let body = PreEscaped(harmless(&body.0));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (super::one_line(title)) }
                style { (PreEscaped(css)) }
            }
            body { (body) }
        }
    };
    page.into_string() + "\n"
}

/// Escapes possible CI commands in a log by characters that a browser shows the same.
fn harmless(body: &str) -> String {
    let line = |line: &str| {
        let text = line.trim_start();
        let blank = &line[..line.len() - text.len()];
        match text.strip_prefix("::") {
            Some(rest) => format!("{blank}&#58;:{rest}"),
            None => line.to_owned(),
        }
    };
    body.split('\n').map(line).collect::<Vec<_>>().join("\n").replace("##", "#&#35;")
}
