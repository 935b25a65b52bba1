//! Pages: one self-contained file each, without script, that asks nobody for anything.

pub mod report;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page. Its style is its own, and a browser is told to load nothing else.
pub fn page(title: &str, css: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(css)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}
