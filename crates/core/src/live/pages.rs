//! Reading a list page by page.

use std::collections::HashSet;

use pushplan_model::exchange::BadAnswer;
use serde_json::Value;

/// The maximal number of pages of a list. The longest sensible list is far shorter.
const MOST: usize = 100_000;

/// The maximal number of consecutive empty pages.
const EMPTY: usize = 100;

/// The pages that were requested.
#[derive(Debug, Default)]
pub struct Pages {
    seen: HashSet<String>,
    empty: usize,
}

impl Pages {
    /// The path of the next page, from the body of the current one; `None` if it is the last.
    ///
    /// Each page is checked against the origin: the service is trusted with data, not with our credentials.
    pub fn next(&mut self, origin: &str, current: &str, body: &Value) -> Result<Option<String>, BadAnswer> {
        let next = match &body["next_page"] {
            Value::Null => return Ok(None),
            Value::String(next) if next.is_empty() => return Ok(None),
            Value::String(next) => path(origin, current, next)?,
            _ => return Err("`next_page` is not a string".into()),
        };
        self.seen.insert(current.to_owned());
        if !self.seen.insert(next.clone()) {
            return Err(format!("the pages of the list form a loop: {next} was already read").into());
        }
        let mut lists = body.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_array());
        self.empty = if lists.all(Vec::is_empty) { self.empty + 1 } else { 0 };
        if self.empty > EMPTY {
            return Err(format!("{EMPTY} pages of the list in a row are empty, but each has a next page").into());
        }
        if self.seen.len() > MOST {
            return Err(format!("the list has more than {MOST} pages").into());
        }
        Ok(Some(next))
    }
}

/// The path and query of a page on the origin.
fn path(origin: &str, current: &str, next: &str) -> Result<String, BadAnswer> {
    let foreign = || Err(format!("`next_page` is on another server: {next}").into());
    if let Some(rest) = next.strip_prefix(origin) {
        return if rest.starts_with('/') { Ok(rest.to_owned()) } else { foreign() };
    }
    // `//host/path` names another server as well.
    if next.contains("://") || next.starts_with("//") || next.contains('\\') {
        return foreign();
    }
    let path = current.split('?').next().unwrap_or_default();
    Ok(match next.chars().next() {
        Some('/') => next.to_owned(),
        Some('?') => format!("{path}{next}"),
        _ => format!("{}/{next}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ORIGIN: &str = "https://messaging.example";

    fn next(page: &Value) -> Result<Option<String>, BadAnswer> {
        Pages::default().next(ORIGIN, "/api/segments?limit=2", &json!({ "next_page": page, "segments": [{}] }))
    }

    #[test]
    fn a_next_page_has_many_forms() {
        assert_eq!(next(&json!(null)), Ok(None));
        assert_eq!(
            next(&json!("https://messaging.example/api/segments?start=x")),
            Ok(Some("/api/segments?start=x".into()))
        );
        assert_eq!(next(&json!("/api/segments?start=x")), Ok(Some("/api/segments?start=x".into())));
        assert_eq!(next(&json!("?start=x")), Ok(Some("/api/segments?start=x".into())));
        assert_eq!(next(&json!("segments?start=x")), Ok(Some("/api/segments?start=x".into())));
    }

    #[test]
    fn a_page_elsewhere_is_not_followed() {
        for page in [
            "https://evil.example/api/segments",
            "https://messaging.example.evil.example/x",
            "https://messaging.example@evil.example/x",
            "http://messaging.example/x",
            "//evil.example/x",
            "/\\evil.example/x",
        ] {
            assert!(next(&json!(page)).is_err(), "{page}");
        }
        assert!(next(&json!(7)).is_err());
    }

    #[test]
    fn a_circle_of_pages_is_noticed() {
        let mut pages = Pages::default();
        assert!(pages.next(ORIGIN, "/a", &json!({ "next_page": "/b" })).is_ok());
        assert!(pages.next(ORIGIN, "/b", &json!({ "next_page": "/c" })).is_ok());
        assert!(pages.next(ORIGIN, "/c", &json!({ "next_page": "/a" })).is_err());
    }

    #[test]
    fn empty_pages_come_to_an_end() {
        let follow = |item: Option<Value>| {
            let mut pages = Pages::default();
            let body = |number: usize| json!({ "next_page": format!("/{}", number + 1), "segments": Vec::from_iter(item.clone()) });
            (0..2 * EMPTY).find(|number| pages.next(ORIGIN, &format!("/{number}"), &body(*number)).is_err())
        };
        assert_eq!(follow(None), Some(EMPTY));
        assert_eq!(follow(Some(json!({}))), None);
    }
}
