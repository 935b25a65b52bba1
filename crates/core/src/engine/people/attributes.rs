//! Values of attributes that meet some conditions and fail others.

use std::collections::BTreeMap;

use pushplan_model::nouns::audience::{Attribute, Selector};
use pushplan_service::request::understood;
use pushplan_service::state::devices::{Device, has_attribute};
use serde_json::{Value, json};

/// Finds a value for each attribute. `None` if no value fits, or if a condition cannot be read.
pub fn values(conditions: &[(&str, bool)]) -> Option<BTreeMap<String, Value>> {
    let mut tests: BTreeMap<String, Vec<(Attribute, bool)>> = BTreeMap::new();
    for (written, so) in conditions {
        let selector: Selector = understood(&serde_json::from_str(written).ok()?)?;
        let Selector::Attribute(attribute) = selector else { return None };
        tests.entry(attribute.attribute.value.clone()).or_default().push((attribute, *so));
    }
    let mut found = BTreeMap::new();
    for (name, tests) in tests {
        let fits = |value: &Value| {
            let attributes = [(name.clone(), value.clone())].into();
            let device = Device { attributes, ..Device::default() };
            tests.iter().all(|(attribute, so)| has_attribute(attribute, &device) == *so)
        };
        let value = candidates(&tests).into_iter().find(fits)?;
        found.insert(name, value);
    }
    found.retain(|_, value| !value.is_null());
    Some(found)
}

/// Values around the bounds of some conditions: one of them fits, if any does. No value is first.
fn candidates(tests: &[(Attribute, bool)]) -> Vec<Value> {
    let bounds: Vec<&Value> = tests.iter().filter_map(|(attribute, _)| attribute.value.as_ref()).collect();
    let mut all = vec![Value::Null];
    all.extend(bounds.iter().map(|bound| (*bound).clone()));
    let mut numbers: Vec<f64> = bounds.iter().filter_map(|bound| bound.as_f64()).collect();
    numbers.sort_by(f64::total_cmp);
    all.extend(numbers.iter().flat_map(|number| [json!(number - 1.0), json!(number + 1.0)]));
    all.extend(numbers.windows(2).map(|pair| json!(f64::midpoint(pair[0], pair[1]))));
    let mut texts: Vec<&str> = bounds.iter().filter_map(|bound| bound.as_str()).collect();
    texts.sort_unstable();
    all.push(json!(""));
    // The next text after a bound, and all texts in one, with or without a prefix.
    all.extend(texts.iter().map(|text| json!(format!("{text}\u{0}"))));
    let joined = texts.concat();
    all.extend(["", "!", "~", "\u{10ffff}"].map(|start| json!(format!("{start}{joined}"))));
    for text in &texts {
        all.extend(texts.iter().map(|other| json!(format!("{text}\u{0}{other}"))));
    }
    all.push(Value::Array(bounds.iter().map(|bound| (*bound).clone()).collect()));
    let wanted = tests.iter().filter(|(_, so)| *so).filter_map(|(attribute, _)| attribute.value.clone());
    all.push(Value::Array(wanted.collect()));
    all.extend([json!(0), json!("other"), json!(true), json!([])]);
    all
}
