//! The pages of a listing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::origin::Origin;

/// The most pages that one listing may have: a service that always has another one is not listened to forever.
const MOST: usize = 100_000;

/// The pages of one listing that were asked for.
#[derive(Debug)]
pub struct Pages {
    asked: BTreeSet<String>,
    last: String,
}

impl Pages {
    /// A listing that begins at a path.
    pub fn new(first: impl Into<String>) -> Self {
        let last = first.into();
        Self { asked: BTreeSet::from([last.clone()]), last }
    }

    /// The path of the page after the one whose body this is; `None` where it was the last. A link that leads away from the
    /// origin, or in a circle, is an error: the listing is not whole.
    pub fn next(&mut self, origin: &Origin, body: &Value) -> Result<Option<String>, String> {
        let link = match &body["next_page"] {
            Value::Null => return Ok(None),
            Value::String(link) if link.is_empty() => return Ok(None),
            Value::String(link) => link,
            other => return Err(format!("next_page is no link: {other}")),
        };
        let path = origin.follow(&self.last, link).map_err(|why| format!("next_page {why}"))?;
        if !self.asked.insert(path.clone()) {
            return Err(format!("next_page leads in a circle: {path} was read already"));
        }
        if self.asked.len() > MOST {
            return Err(format!("there is no end to it: {MOST} pages were read"));
        }
        self.last.clone_from(&path);
        Ok(Some(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_listing_goes_on_until_it_ends_strays_or_turns_in_a_circle() {
        let origin = Origin::parse("https://messaging.example").unwrap();
        let mut pages = Pages::new("/api/segments");
        let mut next = |link: Value| pages.next(&origin, &json!({"segments": [], "next_page": link}));
        assert_eq!(next(json!("?start=2")).unwrap().unwrap(), "/api/segments?start=2");
        assert_eq!(next(json!("/api/segments?start=3")).unwrap().unwrap(), "/api/segments?start=3");
        assert_eq!(next(json!(null)), Ok(None));
        assert_eq!(next(json!("")), Ok(None));
        assert!(next(json!(7)).unwrap_err().contains("no link"));
        assert!(next(json!("?start=2")).unwrap_err().contains("in a circle"));
        assert!(next(json!("https://messaging.example/api/segments")).unwrap_err().contains("in a circle"));
        assert!(next(json!("https://evil.example/")).unwrap_err().contains("leads away"));
        assert_eq!(Pages::new("/api/segments").next(&origin, &json!({"segments": []})), Ok(None));
    }
}
