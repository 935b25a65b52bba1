//! Bars of a plot, for a terminal.

/// Parts of a block character, each an eighth wider than the one before.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar whose length is proportional to `value`, relative to `most`. Any value above zero is visible.
pub fn bar(value: u64, most: u64, width: usize, ascii: bool) -> String {
    if value == 0 || most == 0 {
        return String::new();
    }
    let steps = if ascii { 1 } else { PARTS.len() };
    let room = (width * steps) as u128;
    let (value, most) = (u128::from(value.min(most)), u128::from(most));
    let length = ((value * room + most / 2) / most).max(1);
    let length = usize::try_from(length).unwrap_or_default().min(width * steps);
    if ascii {
        return "=".repeat(length);
    }
    format!("{}{}", "█".repeat(length / steps), PARTS[length % steps])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_bar_is_as_long_as_its_value() {
        assert_eq!(bar(10, 10, 4, false), "████");
        assert_eq!(bar(5, 10, 4, false), "██");
        assert_eq!(bar(1, 16, 2, false), "▏");
        assert_eq!(bar(9, 10, 4, false), "███▋");
        assert_eq!(bar(5, 10, 4, true), "==");
    }

    #[test]
    fn nothing_has_no_bar_and_a_little_has_one() {
        assert_eq!(bar(0, 10, 4, false), "");
        assert_eq!(bar(0, 0, 4, true), "");
        assert_eq!(bar(1, u64::MAX, 4, false), "▏");
        assert_eq!(bar(1, u64::MAX, 4, true), "=");
    }

    proptest! {
        #[test]
        fn no_bar_is_wider_than_its_room(value: u64, most: u64, width in 1..200usize, ascii: bool) {
            prop_assert!(bar(value, most, width, ascii).width() <= width);
        }

        #[test]
        fn more_is_never_shorter(one: u64, other: u64, width in 1..60usize, ascii: bool) {
            let (less, more) = (one.min(other), one.max(other));
            prop_assert!(bar(less, u64::MAX, width, ascii).width() <= bar(more, u64::MAX, width, ascii).width());
        }
    }
}
