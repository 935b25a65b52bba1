//! The direction of a text.

/// Whether a text is read from right to left: its first letter decides, as on devices and in browsers.
pub fn is_rtl(text: &str) -> bool {
    text.chars().find(|c| c.is_alphabetic()).is_some_and(is_rtl_letter)
}

/// Letters of Hebrew, Arabic, Syriac, Thaana, N'Ko and of the adjacent scripts in Unicode's blocks.
fn is_rtl_letter(c: char) -> bool {
    matches!(c,
        '\u{0590}'..='\u{08ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_decides() {
        for text in ["שלום", "مرحبا Anna", "42 שלום", "🎉 مرحبا"] {
            assert!(is_rtl(text), "{text}");
        }
        for text in ["", "42!", "Hi שלום", "日本", "Olá"] {
            assert!(!is_rtl(text), "{text}");
        }
    }
}
