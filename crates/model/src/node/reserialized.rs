//! Reserializes JSON value by value, without a tree.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

/// A JSON text that is serialized as its value.
pub struct Reserialized<'t>(pub &'t str);

impl Serialize for Reserialized<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DeserializerCell::new(&mut serde_json::Deserializer::from_str(self.0)).serialize(serializer)
    }
}

/// The content of a deserializer. It can be serialized once.
struct DeserializerCell<D>(Cell<Option<D>>);

impl<D> DeserializerCell<D> {
    fn new(deserializer: D) -> Self {
        Self(Cell::new(Some(deserializer)))
    }
}

impl<'de, D: Deserializer<'de>> Serialize for DeserializerCell<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let deserializer = self.0.take().ok_or_else(|| S::Error::custom("it was written already"))?;
        deserializer.deserialize_any(Onto(serializer)).map_err(S::Error::custom)
    }
}

/// Writes everything that is read.
struct Onto<S>(S);

macro_rules! written {
    ($($method:ident: $type:ty => $write:ident),*) => {
        $(fn $method<E: serde::de::Error>(self, value: $type) -> Result<S::Ok, E> {
            self.0.$write(value).map_err(E::custom)
        })*
    };
}

impl<'de, S: Serializer> Visitor<'de> for Onto<S> {
    type Value = S::Ok;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON value")
    }

    written! {
        visit_bool: bool => serialize_bool, visit_i64: i64 => serialize_i64, visit_u64: u64 => serialize_u64,
        visit_f64: f64 => serialize_f64, visit_str: &str => serialize_str
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<S::Ok, E> {
        self.0.serialize_unit().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<S::Ok, A::Error> {
        let mut list = self.0.serialize_seq(items.size_hint()).map_err(A::Error::custom)?;
        while items.next_element_seed(Item(&mut list))?.is_some() {}
        list.end().map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<S::Ok, A::Error> {
        let mut map = self.0.serialize_map(entries.size_hint()).map_err(A::Error::custom)?;
        while entries.next_key_seed(Key(&mut map))?.is_some() {
            entries.next_value_seed(Field(&mut map))?;
        }
        map.end().map_err(A::Error::custom)
    }
}

macro_rules! part {
    ($name:ident: $trait:ident, $write:ident) => {
        struct $name<'s, S>(&'s mut S);

        impl<'de, S: $trait> DeserializeSeed<'de> for $name<'_, S> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                self.0.$write(&DeserializerCell::new(deserializer)).map_err(D::Error::custom)
            }
        }
    };
}

part!(Item: SerializeSeq, serialize_element);
part!(Key: SerializeMap, serialize_key);
part!(Field: SerializeMap, serialize_value);
