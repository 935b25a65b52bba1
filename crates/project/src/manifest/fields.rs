//! The fields of manifests and of the project file, by their paths in the schemas.

use std::collections::BTreeSet;

use pushplan_model::kinds;
use pushplan_model::nouns::audience::schema::ONLY_IN;
use pushplan_model::nouns::spelling::ANOTHER_SPELLING;
use pushplan_model::text;
use serde_json::Value;

use super::{PROJECT_FILE, schema};

/// The number of words of a list that are shown; the rest is counted.
const TOLD: usize = 8;
/// The end of a field that has any name after its beginning: `open::<name>`.
const ANY_NAME: &str = "<name>";
/// The key of a schema that describes a form in words, instead of its pattern.
const IN_WORDS: &str = "x-words";

/// A place in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaField {
    pub path: String,
    /// Its descriptions, a paragraph each: of the field first, then of its type.
    pub about: Vec<String>,
    /// Its allowed values, in words.
    pub what: String,
    pub required: bool,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub about: String,
    pub required: bool,
}

/// The schemas in which paths are searched.
#[derive(Debug)]
pub struct Book {
    roots: Vec<Value>,
}

impl Default for Book {
    fn default() -> Self {
        Self { roots: vec![schema::fields(), schema::project_file()] }
    }
}

impl Book {
    /// The place of a path such as `pipelines.outcome.delay`. Lists are not part of a path; keys of maps may be.
    pub fn find(&self, path: &str) -> Option<SchemaField> {
        self.roots.iter().find_map(|root| Tree { root, path }.find(path))
    }

    /// Creates a book for another type of file.
    pub fn of(schema: Value) -> Self {
        Self { roots: vec![schema] }
    }

    /// Creates a book for the content that several kinds have. Its paths begin with `notification` or `localizations`.
    pub fn content() -> Self {
        let properties = serde_json::json!({
            "notification": { "$ref": "#/definitions/Notification" },
            "localizations": { "type": "array", "items": { "$ref": "#/definitions/Localization" } },
        });
        let definitions = &schema::fields()["definitions"];
        Self::of(serde_json::json!({ "properties": properties, "definitions": definitions }))
    }

    /// The project file as a whole.
    pub fn project_file(&self) -> SchemaField {
        self.file(PROJECT_FILE)
    }

    /// A file as a whole: the last root.
    pub fn file(&self, name: &str) -> SchemaField {
        let root = self.roots.last().unwrap_or(&Value::Null);
        Tree { root, path: "" }.place(name, SchemaStep { schema: root, required: false })
    }

    /// Every path, kinds first, without repetitions in defaults and overlays.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for root in &self.roots {
            Tree { root, path: "" }.paths(root, "", &mut Vec::new(), &mut paths);
        }
        paths
    }

    /// The probable path: one with a typo, or one that ends in the word.
    pub fn nearest(&self, path: &str) -> Option<String> {
        let mut paths = self.paths();
        // Groups and a matrix have the fields of targets, and users usually look for a target.
        paths.sort_by_key(|path| path.starts_with("groups.") || path.starts_with("matrix."));
        let whole = text::nearest(path, paths.iter().map(String::as_str));
        let last = |path: &'_ str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let wanted = last(path);
        let ending = || paths.iter().find(|path| last(path) == wanted).map(String::as_str);
        let similar = || {
            let names: Vec<String> = paths.iter().map(|path| last(path)).collect();
            let near = text::nearest(&wanted, names.iter().map(String::as_str))?;
            paths.iter().find(|path| last(path) == near).map(String::as_str)
        };
        whole.or_else(ending).or_else(similar).map(str::to_owned)
    }
}

/// One property on the way of a path.
#[derive(Clone, Copy)]
struct SchemaStep<'s> {
    schema: &'s Value,
    required: bool,
}

#[derive(Clone, Copy)]
struct Tree<'s> {
    root: &'s Value,
    /// The requested path; empty for all of them.
    path: &'s str,
}

impl<'s> Tree<'s> {
    fn find(self, path: &str) -> Option<SchemaField> {
        let mut at = SchemaStep { schema: self.root, required: false };
        let mut words = path.split('.').peekable();
        while let Some(word) = words.next() {
            at = match self.step(at.schema, word) {
                Some(next) => next,
                // A key that the author chooses, such as a target's name: the next word must be known.
                None => self.step(at.schema, words.next()?).filter(|_| self.has_own_keys(at.schema))?,
            };
        }
        Some(self.place(path, at))
    }

    fn place(self, path: &str, at: SchemaStep<'s>) -> SchemaField {
        let mut about = Vec::new();
        self.about(at.schema, &mut about);
        // A field may begin with what its form says.
        let is_repeated = |place: usize| {
            let words = about[place].trim_end_matches('.');
            about[place + 1..].iter().any(|later| later.starts_with(words))
        };
        let own: Vec<usize> = (0..about.len()).filter(|place| !is_repeated(*place)).collect();
        let about: Vec<String> = own.into_iter().map(|place| about[place].clone()).collect();
        let fields = self.fields(at.schema).into_iter().map(|(name, step)| {
            let mut words = Vec::new();
            self.about(step.schema, &mut words);
            Field { name, about: words.into_iter().next().unwrap_or_default(), required: step.required }
        });
        let mut fields: Vec<Field> = fields.collect();
        fields.sort_by_key(|field| !field.required);
        SchemaField { path: path.to_owned(), about, what: self.what(at.schema), required: at.required, fields }
    }

    fn step(self, schema: &'s Value, name: &str) -> Option<SchemaStep<'s>> {
        let is_it = |field: &str| match field.strip_suffix(ANY_NAME) {
            Some(starts) => field == name || name.len() > starts.len() && name.starts_with(starts),
            None => field == name,
        };
        self.fields(schema).into_iter().find(|(field, _)| is_it(field)).map(|(_, step)| step)
    }

    fn target(self, schema: &'s Value) -> Option<(&'s str, &'s Value)> {
        let name = schema["$ref"].as_str()?.strip_prefix("#/definitions/")?;
        Some((name, &self.root["definitions"][name]))
    }

    /// The forms of a value: with references resolved, and choices expanded.
    fn forms(self, schema: &'s Value, seen: &mut BTreeSet<&'s str>, into: &mut Vec<&'s Value>) {
        if let Some((name, target)) = self.target(schema) {
            if seen.insert(name) {
                self.forms(target, seen, into);
            }
            return;
        }
        let mut open = false;
        // `oneOf` restricts the combinations of keys, and has no forms.
        for list in ["anyOf", "allOf"] {
            for form in schema[list].as_array().into_iter().flatten() {
                open = true;
                self.forms(form, seen, into);
            }
        }
        if !open && schema["type"] != "null" && schema["$comment"] != ANOTHER_SPELLING && self.works_here(schema) {
            into.push(schema);
        }
    }

    /// Whether a form is valid in the requested kind.
    fn works_here(self, form: &Value) -> bool {
        form[ONLY_IN].as_str().is_none_or(|kind| self.path.is_empty() || self.path.split('.').any(|word| word == kind))
    }

    /// The maps with known keys at this place, through lists and through maps with free keys.
    fn maps(self, schema: &'s Value, seen: &mut BTreeSet<&'s str>, into: &mut Vec<&'s Value>) {
        let mut forms = Vec::new();
        self.forms(schema, seen, &mut forms);
        for form in forms {
            if form.get("properties").is_some() {
                into.push(form);
            } else if let Some(inner) = form.get("items").or(form.get("additionalProperties")) {
                self.maps(inner, seen, into);
            }
        }
    }

    /// The fields at this place, each once. A field is required if every form requires it.
    fn fields(self, schema: &'s Value) -> Vec<(String, SchemaStep<'s>)> {
        let mut maps = Vec::new();
        self.maps(schema, &mut BTreeSet::new(), &mut maps);
        let requires = |map: &Value, name: &str| {
            map["required"].as_array().is_some_and(|required| required.iter().any(|one| one == name))
        };
        let mut fields: Vec<(String, SchemaStep)> = Vec::new();
        for map in &maps {
            for (name, schema) in map["properties"].as_object().into_iter().flatten() {
                if !fields.iter().any(|(known, _)| known == name) {
                    let required = maps.iter().all(|map| requires(map, name));
                    fields.push((name.clone(), SchemaStep { schema, required }));
                }
            }
            // The pattern of the author's own keys has no schema.
            let patterns = map["patternProperties"].as_object().into_iter().flatten();
            for (pattern, schema) in patterns.filter(|(_, schema)| schema.is_object()) {
                let starts = pattern.trim_start_matches('^').trim_end_matches(".+$");
                fields.push((format!("{starts}{ANY_NAME}"), SchemaStep { schema, required: false }));
            }
        }
        fields
    }

    fn has_own_keys(self, schema: &'s Value) -> bool {
        let mut forms = Vec::new();
        self.forms(schema, &mut BTreeSet::new(), &mut forms);
        forms.iter().any(|form| form["additionalProperties"].is_object())
    }

    /// The description of a place, or of its type if the place has none.
    fn about(self, schema: &'s Value, into: &mut Vec<String>) {
        if let Some(words) = schema["description"].as_str().filter(|words| !into.iter().any(|known| known == words)) {
            into.push(words.to_owned());
            return;
        }
        if *schema == Value::Bool(true) {
            into.push("The published API of the service does not describe it; it is sent unchanged.".into());
        }
        if let Some((_, target)) = self.target(schema) {
            self.about(target, into);
        }
        for list in ["anyOf", "allOf"] {
            let forms = schema[list].as_array().into_iter().flatten();
            forms.filter(|form| form.get("$ref").is_some()).for_each(|form| self.about(form, into));
        }
    }

    /// The allowed values of a place, in words.
    fn what(self, schema: &'s Value) -> String {
        text::any_of(&self.words(schema))
    }

    fn words(self, schema: &'s Value) -> Vec<String> {
        let mut forms = Vec::new();
        self.forms(schema, &mut BTreeSet::new(), &mut forms);
        let is_free = |form: &Value| form["type"] == "string" && form.as_object().is_some_and(|form| form.len() == 1);
        let free = forms.iter().any(|form| is_free(form));
        let (lists, single): (Vec<&Value>, Vec<&Value>) =
            forms.into_iter().partition(|form| form.get("items").is_some());
        let mut words: Vec<String> = Vec::new();
        for word in single.into_iter().flat_map(|form| self.form(form, free)) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        // Examples of a text imply that it is one.
        if words.iter().any(|word| word.starts_with("text (")) {
            words.retain(|word| word != "text");
        }
        if words.iter().any(|word| word == "true or false") {
            words.retain(|word| word != "`true`" && word != "`false`");
        }
        for list in lists {
            let items = self.words(&list["items"]);
            let known = !words.is_empty() && items.iter().all(|item| words.contains(item));
            words.push(match known {
                true if words.len() > 1 && items == ["text"] => "a list of texts".to_owned(),
                true => "a list of them".to_owned(),
                false => format!("a list, each item {}", text::any_of(&items)),
            });
        }
        words
    }

    /// The allowed values of one form. Listed words are only examples if any other text is allowed as well (`free`).
    fn form(self, form: &'s Value, free: bool) -> Vec<String> {
        if let Some(words) = form["enum"].as_array() {
            let shown = |word: &Value| format!("`{}`", word.as_str().map_or_else(|| word.to_string(), str::to_owned));
            let told: Vec<String> = words.iter().filter(|word| !word.is_null()).take(TOLD).map(shown).collect();
            return match words.len() {
                _ if free => vec![format!("text (such as {})", text::any_of(&told))],
                many if many > TOLD => vec![format!("one of {many} words, such as {}", text::any_of(&told))],
                _ => told,
            };
        }
        if let Some(word) = form["const"].as_str() {
            return vec![format!("`{word}`")];
        }
        if let Some(kind) = form["x-names"].as_str().and_then(kinds::kind) {
            return vec![format!("the key of a {}", kind.noun)];
        }
        if let Some(words) = form[IN_WORDS].as_str() {
            return vec![words.to_owned()];
        }
        let types: Vec<&str> = match &form["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        let values = form.get("additionalProperties").filter(|values| values.is_object());
        let words = types.iter().filter(|name| **name != "null").map(|name| match (*name, values) {
            ("string", _) => match form["pattern"].as_str() {
                Some(pattern) => format!("text of the form {pattern}"),
                None => "text".into(),
            },
            ("boolean", _) => "true or false".into(),
            ("integer", _) => "a whole number".into(),
            ("number", _) => "a number".into(),
            ("object", Some(values)) => format!("a map (key: a name; value: {})", self.what(values)),
            ("object", None) => "a map".into(),
            (other, _) => other.to_owned(),
        });
        if types.is_empty() { vec!["anything".into()] } else { words.collect() }
    }

    /// The paths below a place. A recursive map is expanded once.
    fn paths(self, schema: &'s Value, prefix: &str, open: &mut Vec<&'s Value>, into: &mut Vec<String>) {
        let mut maps = Vec::new();
        self.maps(schema, &mut BTreeSet::new(), &mut maps);
        if maps.iter().any(|map| open.iter().any(|outer| std::ptr::eq(*outer, *map))) {
            return;
        }
        let outer = open.len();
        open.extend(maps);
        for (name, step) in self.fields(schema) {
            let repeats = prefix.is_empty() && super::TOP_LEVEL.iter().any(|(key, _)| *key == name);
            let path = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            into.push(path.clone());
            if !repeats {
                self.paths(step.schema, &path, open, into);
            }
        }
        open.truncate(outer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_lists_maps_and_references() {
        let book = Book::default();
        for (path, what, required) in [
            ("segments.display_name", "text", false),
            ("pipelines.enabled", "true or false", true),
            ("templates.variables.key", "text", true),
            ("templates.winback.variables.key", "text", true),
            ("scheduled_pushes.push.template", "the key of a template", false),
            ("targets.production.quiet_hours.from", "a time of day such as `21:00`", true),
            ("pipelines.outcome.delay", "a number of seconds or a duration such as `90s`, `10m` or `1d`", false),
            ("segments.criteria.opt_in", "true or false or a list of them", false),
            ("scheduled_pushes.push.substitutions", "a map (key: a name; value: text)", false),
            ("segments.criteria", "`all` or a map", true),
            ("segments.criteria.and", "`all`, a map or a list of them", false),
            ("pipelines.outcome.push.audience", "`all`, `triggered` or a map", false),
            ("targets.api", "`documented` or `extended`", false),
            ("scheduled_pushes.lifecycle.protect", "true or false", false),
            ("templates.push.notification.open::sms.title", "text", false),
            ("templates.push.notification.ios.relevance_score", "a number from 0 to 1", false),
        ] {
            let place = book.find(path).unwrap_or_else(|| panic!("{path} leads nowhere"));
            assert_eq!((place.what.as_str(), place.required), (what, required), "{path}");
        }
        for wrong in
            ["segments.critera", "segment.criteria", "", "targets.production.quiet", "segments.criteria.and.x.y"]
        {
            assert_eq!(book.find(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_path_leads_somewhere_and_says_what_is_there() {
        let book = Book::default();
        let paths = book.paths();
        assert!(paths.iter().any(|path| path == "pipelines.outcome.push.notification.actions.open.content"));
        for path in paths {
            let place = book.find(&path).unwrap_or_else(|| panic!("{path} leads nowhere"));
            assert!(!place.about.is_empty() && !place.what.is_empty(), "{path}: {place:?}");
        }
    }
}
