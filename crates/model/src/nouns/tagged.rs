//! The tags that an audience or a trigger names.

use std::collections::BTreeSet;

use serde_json::Value;

/// The service's name for the tags of a device that are in no group.
pub const DEVICE: &str = "device";

/// Returns a tag group as written; `None` for the group `device`, which means the same as no group.
pub fn group_of(written: Option<&str>) -> Option<&str> {
    written.filter(|group| *group != DEVICE)
}

/// Returns every tag without a group that a spec names, in its audiences or in its triggers.
pub fn tags(spec: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    collect(spec, &mut found);
    found
}

fn collect<'s>(value: &'s Value, found: &mut BTreeSet<&'s str>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| collect(one, found)),
        Value::Object(fields) => {
            let is_device = fields.get("group").is_none_or(|group| group.is_null() || group == DEVICE);
            for (name, value) in fields {
                match name.as_str() {
                    "tag" if value.is_object() => collect(value, found),
                    "tag" | "tag_name" if is_device => words(value, found),
                    "tag_added" | "tag_removed" if !value.is_object() => words(value, found),
                    _ => collect(value, found),
                }
            }
        }
        _ => {}
    }
}

/// Adds one tag, or several.
fn words<'s>(value: &'s Value, found: &mut BTreeSet<&'s str>) {
    match value {
        Value::Array(all) => found.extend(all.iter().filter_map(Value::as_str)),
        value => found.extend(value.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tags_without_a_group_are_found_wherever_they_are_named() {
        let spec = json!({
            "audience": {"and": [{"tag": ["a", "b"]}, {"not": {"tag": "c", "group": "device"}}, {"tag": "no", "group": "crm"}]},
            "immediate_trigger": {"tag_added": "d"},
            "condition": [{"or": [{"tag": {"tag_name": "f"}}, {"tag": {"tag_name": "no", "group": "crm"}}]}],
            "cancellation_trigger": [{"tag_removed": {"tag": "e"}}, {"tag_added": {"tag": "no", "group": "crm"}}],
        });
        assert_eq!(tags(&spec).into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f"]);
    }
}
