//! The language and the country of texts.

use std::fmt;

use super::vocabulary::{country, language};

/// A language, a country, or both: `de`, `AT` or `de-AT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locale {
    /// An ISO 639-1 code.
    pub language: Option<String>,
    /// An ISO 3166-1 code.
    pub country: Option<String>,
}

impl Locale {
    /// Reads `de`, `AT` or `de-AT`; `None` if a code is unknown.
    pub fn parse(name: &str) -> Option<Self> {
        let (first, second) = match name.split_once('-') {
            Some((language, country)) => (Some(language), Some(country)),
            None if language(name).is_some() => (Some(name), None),
            None => (None, Some(name)),
        };
        let is_known =
            first.is_none_or(|code| language(code).is_some()) && second.is_none_or(|code| country(code).is_some());
        is_known.then(|| Self { language: first.map(str::to_owned), country: second.map(str::to_owned) })
    }

    /// Whether it is the locale of a language with a country, and the other one that of the language.
    pub fn is_within(&self, other: &Self) -> bool {
        self.language == other.language && self.language.is_some() && self.country.is_some() && other.country.is_none()
    }

    /// Returns the locale that a name with another spelling means, such as `pt_br`.
    pub fn meant(name: &str) -> Option<Self> {
        let name = name.replace('_', "-");
        match name.split_once('-') {
            Some((language, country)) => {
                Self::parse(&format!("{}-{}", language.to_ascii_lowercase(), country.to_ascii_uppercase()))
            }
            None => Self::parse(&name.to_ascii_lowercase()).or_else(|| Self::parse(&name.to_ascii_uppercase())),
        }
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: Vec<&str> = [&self.language, &self.country].into_iter().flatten().map(String::as_str).collect();
        f.write_str(&codes.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_is_read_as_it_is_written() {
        for name in ["de", "AT", "de-AT", "pt-BR", "no"] {
            assert_eq!(Locale::parse(name).map(|locale| locale.to_string()).as_deref(), Some(name));
        }
        for (name, meant) in
            [("pt_BR", "pt-BR"), ("de-at", "de-AT"), ("De", "de"), ("xx", ""), ("zh-Hans", ""), ("", "")]
        {
            assert_eq!(Locale::meant(name).map(|locale| locale.to_string()).unwrap_or_default(), meant, "{name}");
        }
        for name in ["de_AT", "de-", "-AT", "de-AT-x", "german", "at"] {
            assert_eq!(Locale::parse(name), None, "{name}");
        }
    }
}
