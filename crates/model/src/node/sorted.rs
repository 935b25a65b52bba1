//! JSON in one form: without white space, and with the keys of every object in order. Equal values have equal texts.
//!
//! It is what `serde_json` writes for a [`serde_json::Value`], without creating such a value.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant};
use serde::ser::{SerializeTuple, SerializeTupleStruct, SerializeTupleVariant};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Error;

/// Serializes data as sorted JSON.
pub fn sorted(data: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    let mut writer = Writer::default();
    data.serialize(&mut writer)?;
    String::from_utf8(writer.out).map_err(Error::custom)
}

/// Serializes the content of a deserializer as sorted JSON.
pub(crate) fn sorted_from<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let mut writer = Writer::default();
    Onto(&mut writer).deserialize(deserializer)?;
    String::from_utf8(writer.out).map_err(D::Error::custom)
}

#[derive(Debug, Default)]
struct Writer {
    out: Vec<u8>,
    /// The entries of all open objects, innermost last.
    entries: Vec<WrittenEntry>,
}

/// The position of an entry in the output: its key in quotes, and the whole entry.
#[derive(Clone, Copy, Debug)]
struct WrittenEntry {
    begin: usize,
    key_end: usize,
    end: usize,
}

/// A list or an object that is being written.
#[derive(Debug)]
struct OpenWriter<'w> {
    writer: &'w mut Writer,
    begin: usize,
    /// The entries before this one belong to objects around it.
    outer: usize,
    /// Whether an enum variant around it has to be closed as well.
    variant: bool,
}

impl Writer {
    fn put(&mut self, data: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        serde_json::to_writer(&mut self.out, data)
    }

    fn open(&mut self, bracket: u8) -> OpenWriter<'_> {
        self.out.push(bracket);
        OpenWriter { begin: self.out.len(), outer: self.entries.len(), variant: false, writer: self }
    }

    /// Writes `{"variant":` and opens its content.
    fn variant(&mut self, variant: &str, bracket: u8) -> Result<OpenWriter<'_>, Error> {
        self.out.push(b'{');
        self.put(variant)?;
        self.out.push(b':');
        Ok(OpenWriter { variant: true, ..self.open(bracket) })
    }
}

impl OpenWriter<'_> {
    fn item(&mut self, item: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.writer.out.len() > self.begin {
            self.writer.out.push(b',');
        }
        item.serialize(&mut *self.writer)
    }

    fn key(&mut self, key: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.writer.out.len() > self.begin {
            self.writer.out.push(b',');
        }
        let begin = self.writer.out.len();
        key.serialize(&mut *self.writer)?;
        // Numbers can be keys, too.
        if self.writer.out[begin..].first() != Some(&b'"') {
            self.writer.out.insert(begin, b'"');
            self.writer.out.push(b'"');
        }
        let key_end = self.writer.out.len();
        self.writer.out.push(b':');
        self.writer.entries.push(WrittenEntry { begin, key_end, end: key_end });
        Ok(())
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        value.serialize(&mut *self.writer)?;
        self.ends()
    }

    /// Notes that the value of the last key was written.
    fn ends(&mut self) -> Result<(), Error> {
        let end = self.writer.out.len();
        self.writer.entries.last_mut().ok_or_else(|| Error::custom("a value without a key"))?.end = end;
        Ok(())
    }

    fn close(self, bracket: u8) {
        self.writer.out.push(bracket);
        if self.variant {
            self.writer.out.push(b'}');
        }
    }

    fn close_object(mut self) -> Result<(), Error> {
        let entries = self.writer.entries.split_off(self.outer);
        if !entries.is_sorted_by(|one, next| is_before(&self.writer.out, one, next)) {
            self.sort(entries)?;
        }
        self.close(b'}');
        Ok(())
    }

    /// Sorts the entries. If two have the same key, the last one counts.
    fn sort(&mut self, entries: Vec<WrittenEntry>) -> Result<(), Error> {
        let text = self.writer.out.split_off(self.begin);
        let at = |place: usize| place - self.begin;
        let mut keyed = Vec::with_capacity(entries.len());
        for entry in entries {
            let key: String = serde_json::from_slice(&text[at(entry.begin)..at(entry.key_end)])?;
            keyed.push((key, &text[at(entry.begin)..at(entry.end)]));
        }
        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (place, (key, entry)) in keyed.iter().enumerate() {
            if keyed.get(place + 1).is_some_and(|(next, _)| next == key) {
                continue;
            }
            if self.writer.out.len() > self.begin {
                self.writer.out.push(b',');
            }
            self.writer.out.extend_from_slice(entry);
        }
        Ok(())
    }
}

/// Whether an entry is certainly before another. A key with a backslash differs from its text.
fn is_before(text: &[u8], one: &WrittenEntry, next: &WrittenEntry) -> bool {
    let key = |entry: &WrittenEntry| &text[entry.begin + 1..entry.key_end - 1];
    let (one, next) = (key(one), key(next));
    one < next && !one.contains(&b'\\') && !next.contains(&b'\\')
}

/// Writes everything that is read.
struct Onto<'w>(&'w mut Writer);

impl<'de> DeserializeSeed<'de> for Onto<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! written {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E: de::Error>(self, value: $type) -> Result<(), E> {
            self.0.put(&value).map_err(E::custom)
        })*
    };
}

impl<'de> Visitor<'de> for Onto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON value")
    }

    written! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.put(&()).map_err(E::custom)
    }
    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let open = self.0.open(b'[');
        loop {
            let comma = open.writer.out.len();
            if comma > open.begin {
                open.writer.out.push(b',');
            }
            if items.next_element_seed(Onto(open.writer))?.is_none() {
                open.writer.out.truncate(comma);
                break;
            }
        }
        open.close(b']');
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut open = self.0.open(b'{');
        while let Some(Key(key)) = entries.next_key()? {
            open.key(&*key).map_err(A::Error::custom)?;
            entries.next_value_seed(Onto(open.writer))?;
            open.ends().map_err(A::Error::custom)?;
        }
        open.close_object().map_err(A::Error::custom)
    }
}

/// A key of the input, borrowed if possible.
#[derive(Deserialize)]
struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

macro_rules! plain {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            self.put(&value)
        })*
    };
}

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = OpenWriter<'w>;
    type SerializeTuple = OpenWriter<'w>;
    type SerializeTupleStruct = OpenWriter<'w>;
    type SerializeTupleVariant = OpenWriter<'w>;
    type SerializeMap = OpenWriter<'w>;
    type SerializeStruct = OpenWriter<'w>;
    type SerializeStructVariant = OpenWriter<'w>;

    plain! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f64: f64,
        serialize_char: char, serialize_str: &str
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.put(&f64::from(value))
    }
    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        self.put(bytes)
    }
    fn serialize_none(self) -> Result<(), Error> {
        self.put(&())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Error> {
        self.put(&())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.put(&())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.put(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut object = self.open(b'{');
        object.key(variant)?;
        object.value(value)?;
        object.close_object()
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<OpenWriter<'w>, Error> {
        Ok(self.open(b'['))
    }
    fn serialize_tuple(self, _: usize) -> Result<OpenWriter<'w>, Error> {
        Ok(self.open(b'['))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<OpenWriter<'w>, Error> {
        Ok(self.open(b'['))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<OpenWriter<'w>, Error> {
        self.variant(variant, b'[')
    }
    fn serialize_map(self, _: Option<usize>) -> Result<OpenWriter<'w>, Error> {
        Ok(self.open(b'{'))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<OpenWriter<'w>, Error> {
        Ok(self.open(b'{'))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<OpenWriter<'w>, Error> {
        self.variant(variant, b'{')
    }
}

macro_rules! list {
    ($($part:ident, $method:ident);*) => {
        $(impl $part for OpenWriter<'_> {
            type Ok = ();
            type Error = Error;
            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
                self.item(item)
            }
            fn end(self) -> Result<(), Error> {
                self.close(b']');
                Ok(())
            }
        })*
    };
}

list! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field
}

macro_rules! object {
    ($($part:ident);*) => {
        $(impl $part for OpenWriter<'_> {
            type Ok = ();
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.key(key)?;
                self.value(value)
            }
            fn end(self) -> Result<(), Error> {
                self.close_object()
            }
        })*
    };
}

object! { SerializeStruct; SerializeStructVariant }

impl SerializeMap for OpenWriter<'_> {
    type Ok = ();
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key(key)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }
    fn end(self) -> Result<(), Error> {
        self.close_object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    enum Form {
        Unit,
        New(u8),
        Two(u8, &'static str),
        Fields { zulu: bool, alpha: Option<f64> },
    }

    #[derive(Serialize)]
    struct Whole {
        zulu: Vec<Form>,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        none: Option<u8>,
        alpha: (char, (), f32),
        numbers: BTreeMap<u8, i64>,
    }

    #[test]
    fn it_is_what_a_value_is_written_as() {
        let rest = [("b", json!({"y": [], "x": {}})), ("zulu", json!(1)), ("\u{1f}", json!(null)), ("\"", json!(0.1))];
        let whole = Whole {
            zulu: vec![Form::Unit, Form::New(1), Form::Two(2, "é\n"), Form::Fields { zulu: true, alpha: Some(-0.5) }],
            rest: rest.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            none: None,
            alpha: ('\\', (), 0.1),
            numbers: BTreeMap::from([(10, -1), (9, i64::MAX)]),
        };
        let value = serde_json::to_value(&whole).expect("JSON");
        assert_eq!(sorted(&whole).expect("JSON"), value.to_string());
        assert_eq!(sorted(&value).expect("JSON"), value.to_string());
        let text = serde_json::to_string_pretty(&whole).expect("JSON");
        let read = sorted_from(&mut serde_json::Deserializer::from_str(&text)).expect("JSON");
        // The last of two equal keys counts, and `zulu` is written twice.
        let last: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, last.to_string());
        assert_eq!(sorted_from(&value).expect("JSON"), value.to_string());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_is_written_in_order(text in r#"[{}\[\],:"\\a-cnut0-2.e -]{0,24}"#) {
            let mut whole = serde_json::Deserializer::from_str(&text);
            let read = sorted_from(&mut whole).ok().filter(|_| whole.end().is_ok());
            let value = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(read, value.map(|value| value.to_string()));
        }

        #[test]
        fn keys_of_any_form_are_in_order(keys in prop::collection::vec("[a\"\\\\\u{0}-\u{20}é~]{0,3}", 0..8)) {
            struct Unsorted(Vec<String>);
            impl Serialize for Unsorted {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_map(self.0.iter().enumerate().map(|(place, key)| (key, place)))
                }
            }
            let unsorted = Unsorted(keys);
            let value = serde_json::to_value(&unsorted).expect("JSON");
            prop_assert_eq!(sorted(&unsorted).expect("JSON"), value.to_string());
        }
    }
}
