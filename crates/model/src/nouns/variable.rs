use crate::node::{At, shape};

shape! {
    /// A variable of a template.
    pub struct Variable as "a variable with key, name and default_value" {
        /// The word between the braces: 1 to 32 letters, digits and `_`.
        key: At<String>,
        /// The name in the dashboard. The key where it is left out.
        name: Option<At<String>>,
        /// What it stands for.
        description: Option<At<String>>,
        /// What is filled in where a push gives no value. Without it, every push must give one.
        default_value: Option<At<String>>,
    }
}
