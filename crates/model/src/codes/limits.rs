//! The limits of the service's API that plans name. Each has a page that says what pushplan does instead.

/// An operation that the API does not allow.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub title: &'static str,
    /// What `explain` prints, in Markdown.
    pub page: &'static str,
}

/// The meaning of the family.
pub const LIMITED: &str = "what the API does not allow";

macro_rules! limits {
    ($($name:ident $title:literal)*) => {
        $(pub static $name: Limit = Limit {
            name: stringify!($name),
            title: $title,
            page: include_str!(concat!(stringify!($name), ".md")),
        };)*

        /// All limits, by number.
        pub static LIMITS: &[&Limit] = &[$(&$name),*];
    };
}

limits! {
    AP101 "a segment cannot be edited"
    AP102 "a pipeline can be neither changed nor removed"
    AP103 "a scheduled push can be neither changed nor cancelled"
    AP104 "an experiment cannot be changed, only replaced until it starts"
    AP105 "the variables of a template cannot be changed"
}

/// Returns the limit with this name, ignoring case.
pub fn limit(name: &str) -> Option<&'static Limit> {
    LIMITS.iter().copied().find(|limit| limit.name.eq_ignore_ascii_case(name))
}
