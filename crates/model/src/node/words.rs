//! Words from a fixed list, read and written unchanged.

/// Declares an enum of words from a fixed list.
#[doc(hidden)]
#[macro_export]
macro_rules! __words {
    ($(#[doc = $doc:literal])* $name:ident, $what:literal { $($(#[doc = $variant_doc:literal])* $variant:ident = $word:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name { $($(#[doc = $variant_doc])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// Returns it as it is written.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::node::Decode for $name {
            const WHAT: &'static str = $what;

            fn decode(node: &$crate::node::Node, reader: &mut $crate::node::Reader) -> Option<Self> {
                let word = reader.text(node)?;
                match word {
                    $($word => return Some(Self::$variant),)*
                    _ => {}
                }
                let finding = $crate::finding::Finding::new(&$crate::codes::YM206, node.span, format!("`{word}` is \
                    not allowed here"))
                    .label(concat!("expected ", $what));
                reader.report(match $crate::text::nearest(word, [$($word),*]) {
                    Some(near) => finding.help(format!("did you mean \"{near}\"?")),
                    None => finding,
                });
                None
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "enum": [$($word),*] })
            }
        }
    };
}
pub use __words as words;
