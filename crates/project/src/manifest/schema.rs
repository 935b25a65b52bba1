//! The JSON Schemas of manifests and the project file.
//!
//! The kinds define the shapes. This module adds the features of manifests to each of them: `lifecycle`, optional
//! fields in defaults and overlays, variables instead of values, bodies in files.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::KEY_LENGTH;
use pushplan_model::kinds::{KINDS, Kind, Resource, TagGroup};
use pushplan_model::nouns::vocabulary::GROUPS;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::{Lifecycle, Manifests, ProjectFile, TOP_LEVEL};

/// The suffix of a definition's name if none of its fields is required.
const PART: &str = ".part";
/// The definition of a value that comes from the target.
const VARIABLE: &str = "TargetVariable";

/// The schema of a manifest, for any project.
pub fn manifest() -> Value {
    finish(&shapes(), &Names::default(), false)
}

/// The schema of a manifest of one project: references must be existing names, overlays must be for its targets, and a
/// kind with defaults has no required fields.
pub fn manifest_of(names: &Names) -> Value {
    finish(&shapes(), names, true)
}

/// The schema of a manifest without variables, to explain its fields.
pub fn fields() -> Value {
    root(&shapes(), &Names::default(), false)
}

/// The schema of the project file.
pub fn project_file() -> Value {
    let mut schema = of::<ProjectFile>();
    schema["title"] = "pushplan.toml".into();
    schema["$comment"] = "Written by `pushplan schema`".into();
    schema
}

/// The draft-07 schema of any type.
pub fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value()
}

/// The names in one project.
#[derive(Debug, Default)]
pub struct Names {
    /// Keys by kind.
    keys: BTreeMap<&'static str, BTreeSet<String>>,
    /// Targets and groups, which can have overlays.
    targets: BTreeSet<String>,
    /// Kinds with defaults.
    defaults: BTreeSet<&'static str>,
}

impl Names {
    pub fn of(manifests: &Manifests) -> Self {
        let collected = &manifests.collected;
        let mut keys: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for layer in std::iter::once(&collected.base).chain(collected.overlays.values()) {
            for declaration in &layer.resources {
                keys.entry(declaration.kind.key).or_default().insert(declaration.key.value.clone());
            }
        }
        let project = &manifests.project;
        let targets = project.target_names().into_iter().chain(project.group_names()).map(str::to_owned).collect();
        Self { keys, targets, defaults: collected.defaults.keys().copied().collect() }
    }

    /// Every valid reference to this kind, including the service's own tag groups.
    fn all(&self, kind: &str) -> Vec<&str> {
        let declared = self.keys.get(kind).into_iter().flatten().map(String::as_str);
        let built_in = GROUPS.iter().map(|group| group.id).filter(|_| kind == TagGroup::KEY);
        declared.chain(built_in).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The definitions of all kinds by key and of their parts, each also without required fields.
fn shapes() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft07().into_generator();
    let lifecycle = json!({
        "description": "How pushplan manages it. Never sent to the service.",
        "allOf": [generator.subschema_for::<Lifecycle>()],
    });
    let mut resources = Map::new();
    for kind in KINDS {
        let mut resource = (kind.schema)(&mut generator).to_value();
        resource["properties"]["lifecycle"] = lifecycle.clone();
        if resource.get("required").is_none() {
            // `loyalty:` without a value declares a resource without any field.
            resource["type"] = json!(["object", "null"]);
        }
        resources.insert(kind.key.to_owned(), resource);
    }
    let mut shapes = generator.take_definitions(true);
    shapes[&*Lifecycle::schema_name()]["type"] = json!(["object", "null"]);
    shapes.extend(resources);
    shapes.values_mut().for_each(|shape| apply(&mut Bodies, shape));
    let parts: Vec<(String, Value)> = shapes
        .iter()
        .map(|(name, shape)| {
            let mut part = shape.clone();
            relax(&mut part);
            (format!("{name}{PART}"), part)
        })
        .collect();
    shapes.extend(parts);
    for kind in KINDS {
        // An overlay removes a resource with null.
        let part = &mut shapes[&format!("{}{PART}", kind.key)];
        part["type"] = json!(["object", "null"]);
        // Items of these lists are merged with a single value in the layer below.
        for key in kind.one_or_many {
            let forms = part["properties"][key]["anyOf"].as_array_mut().into_iter().flatten();
            forms.filter_map(|form| form.get_mut("items")).for_each(relax);
        }
    }
    shapes
}

/// The whole schema, with the shapes.
fn root(shapes: &Map<String, Value>, names: &Names, of_project: bool) -> Value {
    let section = |kind: &Kind, part: bool| {
        let part = if part { PART } else { "" };
        json!({
            "description": kind.purpose,
            "type": ["object", "null"],
            "propertyNames": { "pattern": format!("^[A-Za-z0-9][A-Za-z0-9._-]{{0,{}}}$|^x-", KEY_LENGTH - 1) },
            "patternProperties": { "^x-": { "not": { "type": "object" } } },
            "additionalProperties": { "$ref": format!("#/definitions/{}{part}", kind.key) },
        })
    };
    let described = |key: &str| TOP_LEVEL.iter().find(|(name, _)| *name == key).map_or("", |(_, words)| *words);
    let sections = |part: &dyn Fn(&Kind) -> bool| -> Map<String, Value> {
        KINDS.iter().map(|kind| (kind.key.to_owned(), section(kind, part(kind)))).collect()
    };
    let defaults: Map<String, Value> = KINDS
        .iter()
        .map(|kind| {
            let part = json!({ "$ref": format!("#/definitions/{}{PART}", kind.key) });
            (kind.key.to_owned(), json!({ "description": kind.purpose, "allOf": [part] }))
        })
        .collect();
    let overlay = json!({
        "type": ["object", "null"],
        "properties": sections(&|_| true),
        "patternProperties": { "^x-": true },
        "additionalProperties": false,
    });
    let mut overlays = json!({
        "description": described("overlays"),
        "type": ["object", "null"],
        "patternProperties": { "^x-": true },
    });
    if of_project {
        overlays["properties"] =
            names.targets.iter().map(|target| (target.clone(), overlay.clone())).collect::<Map<_, _>>().into();
        overlays["additionalProperties"] = false.into();
    } else {
        overlays["additionalProperties"] = overlay;
    }
    let mut properties = sections(&|kind| names.defaults.contains(kind.key));
    properties.insert(
        "defaults".into(),
        json!({
            "description": described("defaults"),
            "type": ["object", "null"],
            "properties": defaults,
            "patternProperties": { "^x-": true },
            "additionalProperties": false,
        }),
    );
    properties.insert("overlays".into(), overlays);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": "Written by `pushplan schema`. To use it, begin a manifest with: # yaml-language-server: $schema=<path of this file>",
        "title": "pushplan manifest",
        "description": "The desired content of a messaging service: a map by kind, with resources by key.",
        "type": ["object", "null"],
        "properties": properties,
        "patternProperties": { "^x-": true },
        "additionalProperties": false,
        "definitions": shapes,
    })
}

fn finish(shapes: &Map<String, Value>, names: &Names, of_project: bool) -> Value {
    let mut schema = root(shapes, names, of_project);
    if of_project {
        apply(&mut References { names }, &mut schema);
    } else {
        look_at_defaults(&mut schema);
    }
    // Keys of resources have a pattern, but no variables, which are only allowed in values.
    for shape in schema["definitions"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        apply(&mut Variables, shape);
    }
    schema["definitions"][VARIABLE] = json!({
        "description": "A value from the target: ${var.name} or ${var.name:-default}.",
        "type": "string",
        "pattern": "\\$\\{var\\.",
    });
    drop_unused(&mut schema);
    schema
}

/// Makes fields optional for kinds with defaults in the same file. Only the schema of the project knows defaults in
/// other files.
fn look_at_defaults(schema: &mut Value) {
    let mut rules = Vec::new();
    for kind in KINDS {
        let whole = schema["properties"][kind.key].take();
        let mut part = whole.clone();
        relax(&mut part);
        schema["properties"][kind.key] = json!({ "description": kind.purpose });
        rules.push(json!({
            "if": { "properties": { "defaults": { "type": "object", "required": [kind.key] } }, "required": ["defaults"] },
            "then": { "properties": { kind.key: part } },
            "else": { "properties": { kind.key: whole } },
        }));
    }
    schema["allOf"] = rules.into();
}

fn apply(transform: &mut impl Transform, schema: &mut Value) {
    if let Ok(schema) = <&mut Schema>::try_from(schema) {
        transform.transform(schema);
    }
}

/// Makes everything optional, and allows null to remove a field. Lists keep their required fields, because a list is
/// replaced as a whole.
fn relax(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("required");
    // The choice between several fields is only visible when all layers are merged.
    object.remove("oneOf");
    if let Some(Value::String(target)) = object.get_mut("$ref") {
        target.push_str(PART);
    }
    for list in ["anyOf", "allOf"] {
        object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().for_each(relax);
    }
    object.get_mut("additionalProperties").into_iter().for_each(relax);
    let patterns = object.get_mut("patternProperties").and_then(Value::as_object_mut);
    patterns.into_iter().flat_map(Map::values_mut).for_each(relax);
    for field in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        relax(field);
        if !field.is_boolean() && !allows_null(field) {
            wrap(field, json!({ "type": "null" }));
        }
    }
}

fn allows_null(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(one) => one == "null",
        Value::Array(types) => types.iter().any(|one| one == "null"),
        _ => schema["anyOf"].as_array().is_some_and(|forms| forms.iter().any(allows_null)),
    }
}

/// Adds an alternative to a schema. Its description stays at the top level, where editors show it.
fn wrap(schema: &mut Value, other: Value) {
    let mut own = schema.take();
    let description = own.as_object_mut().and_then(|own| own.remove("description"));
    let mut forms = match own.as_object_mut() {
        Some(only) if only.len() == 1 && only.contains_key("anyOf") => {
            only["anyOf"].as_array().cloned().unwrap_or_default()
        }
        _ => vec![own],
    };
    if !forms.contains(&other) {
        forms.push(other);
    }
    *schema = json!({ "anyOf": forms });
    if let Some(description) = description {
        schema["description"] = description;
    }
}

/// `body: {file: bodies/sale.html}` for every body.
struct Bodies;

impl Transform for Bodies {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(body) = schema.get_mut("properties").and_then(|fields| fields.get_mut("body")) {
            let file = json!({ "type": "string", "description": "A file, relative to the folder of pushplan.toml." });
            wrap(
                body,
                json!({
                    "type": "object",
                    "properties": { "file": file },
                    "required": ["file"],
                    "additionalProperties": false,
                }),
            );
        }
    }
}

/// `${var.x}` for every value that is not free text.
struct Variables;

impl Transform for Variables {
    fn transform(&mut self, schema: &mut Schema) {
        // The forms of a choice are handled together, so that the variable becomes one of them.
        let is_choice = schema.get("anyOf").is_some();
        if !is_choice {
            transform_subschemas(self, schema);
        }
        let forms: Vec<&Value> = match schema.get("anyOf") {
            Some(Value::Array(forms)) => forms.iter().collect(),
            _ => vec![schema.as_value()],
        };
        let wanted = forms.iter().any(|form| is_narrow(form)) && !forms.iter().any(|form| is_text(form));
        if is_choice && let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
            for form in forms.iter_mut().filter(|form| !is_narrow(form)) {
                apply(self, form);
            }
        }
        if wanted {
            let mut value = schema.clone().to_value();
            wrap(&mut value, json!({ "$ref": format!("#/definitions/{VARIABLE}") }));
            *schema = Schema::try_from(value).expect("an object is a schema");
        }
    }
}

/// Whether a schema accepts scalars, but not every text.
fn is_narrow(schema: &Value) -> bool {
    let typed = |name: &str| match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == name),
        one => one == name,
    };
    ["enum", "const", "pattern"].iter().any(|key| schema.get(key).is_some())
        || (["boolean", "integer", "number"].iter().any(|name| typed(name)) && !typed("string"))
}

/// Whether a schema accepts every text, and so every variable.
fn is_text(schema: &Value) -> bool {
    let text = match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == "string"),
        one => one == "string",
    };
    text && !is_narrow(schema)
}

/// Restricts references to existing names.
struct References<'n> {
    names: &'n Names,
}

impl Transform for References<'_> {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(Value::String(kind)) = schema.remove("x-names") else { return };
        let null = schema.get("type").is_some_and(Value::is_array);
        let names = self.names.all(&kind).into_iter().map(Value::from);
        let names: Vec<Value> = names.chain(null.then_some(Value::Null)).collect();
        schema.remove("type");
        schema.insert("enum".into(), names.into());
    }
}

/// Removes unused definitions.
fn drop_unused(schema: &mut Value) {
    fn refer(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                let target =
                    object.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/definitions/"));
                into.extend(target.map(str::to_owned));
                object.values().for_each(|value| refer(value, into));
            }
            Value::Array(items) => items.iter().for_each(|value| refer(value, into)),
            _ => {}
        }
    }
    let mut open = Vec::new();
    for (_, value) in schema.as_object().into_iter().flatten().filter(|(key, _)| *key != "definitions") {
        refer(value, &mut open);
    }
    let mut used = BTreeSet::new();
    while let Some(name) = open.pop() {
        if used.insert(name.clone()) {
            refer(&schema["definitions"][&name], &mut open);
        }
    }
    if let Some(definitions) = schema["definitions"].as_object_mut() {
        definitions.retain(|name, _| used.contains(name));
    }
}
