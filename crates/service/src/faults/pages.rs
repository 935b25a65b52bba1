//! Listings whose pages are not what they should be.

use std::collections::HashMap;

use serde_json::Value;

/// How many pages are remembered; then it starts anew.
const REMEMBERED: usize = 10_000;

/// The last item of each page that named a next one, by the path and query of the next.
#[derive(Debug, Default)]
pub struct Pages {
    last: HashMap<(String, String), Value>,
}

impl Pages {
    /// Takes note of a page; `who` tells the pages of different clients apart.
    pub fn remember(&mut self, who: &str, page: &Value) {
        let Some(next) = page.get("next_page").and_then(Value::as_str) else { return };
        let Some(last) = page.as_object().and_then(items).and_then(<[Value]>::last) else { return };
        if self.last.len() >= REMEMBERED {
            self.last.clear();
        }
        self.last.insert((who.to_owned(), target(next).to_owned()), last.clone());
    }

    /// The last item of the page before.
    pub fn before(&self, who: &str, target: &str) -> Option<&Value> {
        self.last.get(&(who.to_owned(), target.to_owned()))
    }
}

/// The path and the query of a URL, which may be relative.
fn target(url: &str) -> &str {
    match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => url,
    }
}

fn items(page: &serde_json::Map<String, Value>) -> Option<&[Value]> {
    page.values().find_map(Value::as_array).map(Vec::as_slice)
}

/// The items of a listing's page: the one array in it. An answer that is no listing has none.
pub(crate) fn items_mut(page: &mut Value) -> Option<&mut Vec<Value>> {
    page.as_object_mut()?.values_mut().find_map(Value::as_array_mut)
}
