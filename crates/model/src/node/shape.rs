//! One declaration per noun: its struct, its decoder, its JSON form and its schema, with the doc comments as
//! descriptions.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::Decode;

/// Declares a struct whose fields are keys of a map.
///
/// A field is required unless its type says otherwise ([`Decode::absent`]). With `..rest` at the end, further fields
/// are kept with a warning; without it, they are errors. `..rest known FUNCTION` says which of them the built-in
/// service accepts; without a function, it accepts all. `+open: TYPE as "open::" "…"` before it collects the fields whose
/// key begins with a text, and has their description. `#[serde(skip)]` marks a field that is read and not sent,
/// `#[manifest(only)]` one that is not even read from the wire. `text "alert"` names the key that is meant if people
/// write a text in place of the map. `or nothing` makes a map without any field the same as none. `with one of "a" "b"`
/// means that exactly one of these fields is given; code that reads the whole map checks this.
#[doc(hidden)]
#[macro_export]
macro_rules! __shape {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident as $what:literal $(or $nothing:ident)? $(text $slot:literal)? $(with one of $($either:literal)+)? {
            $($(#[doc = $field_doc:literal])* $(#[serde($serde:ident)])? $(#[manifest($own:ident)])? $field:ident: $type:ty,)*
            $(+$each:ident: $each_type:ty as $starts:literal $each_doc:literal,)?
            $(..$rest:ident $(known $known:path)?)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
        $vis struct $name {
            $(
                $(#[doc = $field_doc])*
                #[serde(skip_serializing_if = "pushplan_model::node::is_absent" $(, $serde)?)]
                $(#[serde(skip)] #[doc = concat!("Of manifests ", stringify!($own), ".")])?
                pub $field: $type,
            )*
            $(
                #[doc = $each_doc]
                #[serde(flatten)]
                pub $each: ::std::collections::BTreeMap<$crate::node::At<String>, $each_type>,
            )?
            $(
                /// Fields that the contract does not describe. They are passed through.
                #[serde(flatten)]
                pub $rest: $crate::node::Rest,
            )?
        }

        impl $name {
            /// The keys, in the order of their declaration.
            pub const KEYS: &'static [&'static str] = &[$($crate::node::field_name(stringify!($field))),*];

            /// The keys that only manifests have.
            const OWN: &'static [&'static str] =
                &[$($($crate::node::shape!(@own $field $own),)?)*];

            fn below() -> Vec<$crate::node::Below> {
                vec![$($crate::node::Below::of::<$type>($crate::node::field_name(stringify!($field)))),*]
            }
        }

        impl $crate::node::Decode for $name {
            const WHAT: &'static str = $what;
            const FIELDS: &'static [&'static str] = Self::KEYS;

            fn decode(node: &$crate::node::Node, reader: &mut $crate::node::Reader) -> Option<Self> {
                let fields = $crate::node::shape!(@map node, reader, $what $(, $slot)?)?;
                let fields = fields.knowing(Self::KEYS, Self::below).owning(Self::OWN)$(.each($starts))?;
                reader.within(Self::KEYS, |reader| {
                    $(let $field = $crate::node::shape!(@take fields, reader, $field, $type $(, $own)?);)*
                    $(let $each = fields.take_each::<$each_type>($starts, reader);)?
                    $crate::node::shape!(@unknown fields, reader $(, $rest $(, $known)?)?);
                    Some(Self { $($field: $field?,)* $($each: $each?,)? $($rest,)? })
                })
            }

            fn is_absent(&self) -> bool {
                let may_be_nothing = $crate::node::shape!(@nothing $($nothing)?);
                may_be_nothing $(&& $crate::node::is_absent(&self.$field))* $(&& self.$each.is_empty())?
                    $(&& $crate::node::is_absent(&self.$rest))?
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                let mut object = $crate::node::ObjectSchema::new(concat!($($doc, "\n"),*));
                $(object.field::<$type>($crate::node::field_name(stringify!($field)), concat!($($field_doc, "\n"),*), generator);)*
                $(object.one_of(&[$($either),+]);)?
                $(object.each::<$each_type>($starts, $each_doc, generator);)?
                object.finish($crate::node::shape!(@open $($rest)?))
            }
        }
    };
    (@take $fields:ident, $reader:ident, $field:ident, $type:ty) => {
        $fields.take::<$type>($crate::node::field_name(stringify!($field)), $reader)
    };
    (@take $fields:ident, $reader:ident, $field:ident, $type:ty, only) => {
        $fields.take_own::<$type>($crate::node::field_name(stringify!($field)), $reader)
    };
    (@own $field:ident only) => { $crate::node::field_name(stringify!($field)) };
    (@map $node:ident, $reader:ident, $what:literal) => { $crate::node::Fields::of($node, $what, $reader) };
    (@map $node:ident, $reader:ident, $what:literal, $slot:literal) => {
        $crate::node::Fields::or_text($node, $what, $slot, $reader)
    };
    (@unknown $fields:ident, $reader:ident) => { $fields.close(Self::KEYS, $reader); };
    (@unknown $fields:ident, $reader:ident, $rest:ident) => { let $rest = $fields.keep(Self::KEYS, |_| true, $reader); };
    (@unknown $fields:ident, $reader:ident, $rest:ident, $known:path) => {
        let $rest = $fields.keep(Self::KEYS, $known, $reader);
    };
    (@nothing) => { false };
    (@nothing $nothing:ident) => { true };
    (@open) => { false };
    (@open $rest:ident) => { true };
}
pub use __shape as shape;

/// Returns a field's key: its name without the `r#` that Rust needs for words like `type`.
pub const fn field_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// The schema of a map with known keys, which is built field by field.
#[derive(Debug)]
pub struct ObjectSchema {
    description: String,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
    one_of: Vec<Value>,
    /// The fields whose names follow a pattern.
    patterns: Map<String, Value>,
}

impl ObjectSchema {
    pub fn new(doc: &str) -> Self {
        let patterns = Map::from_iter([("^x-".to_owned(), Value::Bool(true))]);
        let (properties, required, one_of) = (Map::new(), Vec::new(), Vec::new());
        Self { description: description(doc), properties, required, one_of, patterns }
    }

    fn described<T: JsonSchema>(doc: &str, generator: &mut SchemaGenerator) -> Value {
        let mut schema = generator.subschema_for::<T>().to_value();
        // Draft-07 ignores keywords next to a `$ref`, so the reference goes into an `allOf`.
        if schema.get("$ref").is_some() {
            schema = json!({ "allOf": [schema] });
        }
        if let (Some(object), false) = (schema.as_object_mut(), doc.trim().is_empty()) {
            object.insert("description".into(), description(doc).into());
        }
        schema
    }

    /// Adds the fields whose names begin with a text.
    pub fn each<T: JsonSchema>(&mut self, starts: &str, doc: &str, generator: &mut SchemaGenerator) {
        self.patterns.insert(format!("^{starts}.+$"), Self::described::<T>(doc, generator));
    }

    pub fn field<T: Decode + JsonSchema>(&mut self, name: &'static str, doc: &str, generator: &mut SchemaGenerator) {
        let schema = Self::described::<T>(doc, generator);
        self.properties.insert(name.into(), schema);
        if T::absent().is_none() {
            self.required.push(name);
        }
    }

    /// Requires exactly one of these fields.
    pub fn one_of(&mut self, names: &[&str]) {
        let given = |name: &&str| json!({ "required": [name], "properties": { *name: { "not": { "type": "null" } } } });
        self.one_of = names.iter().map(given).collect();
    }

    pub fn finish(self, open: bool) -> Schema {
        let mut schema = json!({
            "type": "object",
            "properties": self.properties,
            "patternProperties": self.patterns,
        });
        if !self.description.is_empty() {
            schema["description"] = self.description.into();
        }
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        if !self.one_of.is_empty() {
            schema["oneOf"] = self.one_of.into();
        }
        if !open {
            schema["additionalProperties"] = false.into();
        }
        Schema::try_from(schema).expect("an object is a schema")
    }
}

/// Converts a doc comment to a description: lines are joined, paragraphs kept.
fn description(doc: &str) -> String {
    let mut out = String::new();
    for line in doc.lines().map(str::trim) {
        if line.is_empty() {
            out.push_str("\n\n");
        } else {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push(' ');
            }
            out.push_str(line);
        }
    }
    out.trim().to_owned()
}
