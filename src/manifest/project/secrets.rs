//! Passwords that somebody wrote into the project file. That is told as a mistake, and not repeated.

use super::{Project, Sources, place};
use crate::client;

/// Puts stars in their place: what is shown of the file has none of them.
pub fn hide(project: &Project, sources: &mut Sources) {
    let addresses = project.file.targets.values().filter_map(|target| target.base_url.as_ref());
    for written in addresses.filter(|written| !client::is_plain(written)) {
        let text = sources.text(written.span);
        let from = text.find("://").map_or(1, |at| at + 3).min(text.len());
        let end = text.trim_end_matches(['"', '\'']).len().max(from);
        let start = written.span.range().start;
        sources.hide(written.span, start + from..start + end);
    }
    let places = project.file.targets.values().filter_map(|target| target.ledger.as_ref());
    for written in places.filter(|written| place::shown(written) != written.value) {
        let text = sources.text(written.span);
        let Some(from) = text.find("://") else { continue };
        let end = text.trim_end_matches(['"', '\'']).len();
        let start = written.span.range().start;
        sources.hide(written.span, start + from + 3..start + end);
    }
}
