use crate::node::{At, shape};

shape! {
    /// A variable of a template.
    pub struct Variable as "a variable with key, name and default_value" {
        /// The word between the braces: 1 to 32 letters, digits and `_`.
        key: At<String>,
        /// The name in the dashboard [default: the key].
        name: Option<At<String>>,
        /// A note about its meaning.
        description: Option<At<String>>,
        /// The value for pushes that set none. Without a default, every push must set a value.
        default_value: Option<At<String>>,
    }
}
