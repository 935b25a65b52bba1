//! Lists with faulty pages.

use std::collections::HashMap;

use serde_json::Value;

/// The number of remembered pages. When it is reached, all of them are forgotten.
const REMEMBERED: usize = 10_000;

/// The last item of each page with a next page, by path and query of the next page.
#[derive(Debug, Default)]
pub struct Pages {
    last: HashMap<(String, String), Value>,
}

impl Pages {
    /// Stores a page. `who` distinguishes the pages of different clients.
    pub fn remember(&mut self, who: &str, page: &Value) {
        let Some(next) = page.get("next_page").and_then(Value::as_str) else { return };
        let Some(last) = page.as_object().and_then(items).and_then(<[Value]>::last) else { return };
        if self.last.len() >= REMEMBERED {
            self.last.clear();
        }
        self.last.insert((who.to_owned(), target(next).to_owned()), last.clone());
    }

    /// Returns the last item of the page before.
    pub fn before(&self, who: &str, target: &str) -> Option<&Value> {
        self.last.get(&(who.to_owned(), target.to_owned()))
    }
}

/// Returns the path and the query of a URL, which may be relative.
fn target(url: &str) -> &str {
    match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => url,
    }
}

fn items(page: &serde_json::Map<String, Value>) -> Option<&[Value]> {
    page.values().find_map(Value::as_array).map(Vec::as_slice)
}

/// Returns the items of a list's page: the one array in it. Other answers have none.
pub(crate) fn items_mut(page: &mut Value) -> Option<&mut Vec<Value>> {
    page.as_object_mut()?.values_mut().find_map(Value::as_array_mut)
}
