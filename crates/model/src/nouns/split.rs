//! The parts of an audience that the variants of an experiment get.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::codes;
use crate::finding::Finding;
use crate::node::{Decode, Node, Plain, Reader, Style, Tree, resolve};

/// The share of an audience that gets nothing: at least 0 and below 1. None is the same as 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ControlShare(pub f64);

impl Decode for ControlShare {
    const WHAT: &'static str = "a share from 0 to below 1, such as 0.2";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Tree::Scalar(scalar) = &node.tree else {
            reader.unexpected(node, Self::WHAT);
            return None;
        };
        let is_number = scalar.style != Style::Quoted;
        let number = match resolve(&scalar.text) {
            Plain::Integer(_) | Plain::Float => scalar.text.parse::<f64>().ok(),
            _ => None,
        };
        if let Some(share) = number.filter(|share| is_number && (0.0..1.0).contains(share)) {
            return Some(Self(share));
        }
        let percent = scalar.text.trim_end_matches([' ', '%']).parse::<f64>().ok();
        let percent =
            percent.filter(|percent| number.is_none_or(|share| share > 1.0) && (0.0..100.0).contains(percent));
        let finding = Finding::new(
            &codes::EX104,
            node.span,
            format!("the control group is a share from 0 to below 1, not `{}`", scalar.text),
        )
        .label("the share of the audience that gets nothing");
        reader.report(match (number, percent) {
            (Some(share), _) if (0.0..1.0).contains(&share) => {
                finding.help(format!("write {share} without quotes")).suggest(node.span, share.to_string())
            }
            (_, Some(percent)) => {
                let share = (percent / 100.0).to_string();
                finding.help(format!("for {percent} % of the audience, write {share}")).suggest(node.span, share)
            }
            _ => finding.help("write a number such as 0.2, or remove `control`"),
        });
        None
    }
    fn is_absent(&self) -> bool {
        self.0 == 0.0
    }
}

impl JsonSchema for ControlShare {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "ControlShare".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1 })
    }
}

/// The weight of a variant, at least 1. None is the same as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Weight(pub i64);

impl Decode for Weight {
    const WHAT: &'static str = "a whole number of at least 1";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Tree::Scalar(scalar) = &node.tree
            && scalar.style != Style::Quoted
            && let Plain::Integer(weight @ 1..) = resolve(&scalar.text)
        {
            return Some(Self(weight));
        }
        let Tree::Scalar(scalar) = &node.tree else {
            reader.unexpected(node, Self::WHAT);
            return None;
        };
        let message = format!("the weight of a variant is {}, not `{}`", Self::WHAT, scalar.text);
        let finding = Finding::new(&codes::EX105, node.span, message).label("its part in proportion to the others");
        reader.report(finding.help("for 40 % and 60 %, write the weights 2 and 3; to send nothing, use `control`"));
        None
    }
    fn is_absent(&self) -> bool {
        self.0 == 1
    }
}

impl JsonSchema for Weight {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Weight".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

/// The division of an audience among variants, and a part of it that gets nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    weights: Vec<i64>,
    control: f64,
}

impl Split {
    pub fn new(weights: Vec<i64>, control: f64) -> Self {
        Self { weights, control }
    }

    /// Returns a split with equal parts for all variants.
    pub fn even(variants: usize) -> Self {
        Self::new(vec![1; variants], 0.0)
    }

    /// The share of the audience that gets nothing.
    pub fn control(&self) -> Share {
        Share(self.control)
    }

    /// Whether all variants have equal parts, and everyone gets one of them.
    pub fn is_even(&self) -> bool {
        self.control == 0.0 && self.weights.windows(2).all(|pair| pair[0] == pair[1])
    }

    pub fn variants(&self) -> usize {
        self.weights.len()
    }

    /// The weights, counted up: a number below the n-th one, but not below the one before, belongs to the n-th variant.
    pub fn bounds(&self) -> Vec<u128> {
        let weights = self.weights.iter().map(|weight| u128::try_from(*weight).unwrap_or(0));
        let mut sum = 0;
        let counted = weights.map(|weight| {
            sum += weight;
            sum
        });
        counted.collect()
    }

    /// The share of a variant, counted from 0.
    pub fn share(&self, variant: usize) -> Option<Share> {
        #[expect(clippy::cast_precision_loss, reason = "a share is shown with one digit")]
        let weight = |weight: &i64| *weight as f64;
        let total: f64 = self.weights.iter().map(weight).sum();
        Some(Share((1.0 - self.control) * weight(self.weights.get(variant)?) / total))
    }
}

/// `40 % / 40 % / 20 % nobody`
impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = (0..self.variants()).filter_map(|variant| Some(self.share(variant)?.percent()));
        let nobody = (self.control > 0.0).then(|| format!("{} nobody", self.control().percent()));
        f.write_str(&shares.chain(nobody).collect::<Vec<_>>().join(" / "))
    }
}

/// A share of an audience, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// The difference below which two shares are the same.
const SAME: f64 = 1e-9;

impl Share {
    pub fn is_same(self, other: Self) -> bool {
        (self.0 - other.0).abs() < SAME
    }

    /// `40 %`, `33.3 %`
    pub fn percent(self) -> String {
        let tenths = (self.0 * 1_000.0).round();
        match tenths % 10.0 == 0.0 {
            _ if tenths == 0.0 && self.0 > 0.0 => "below 0.1 %".to_owned(),
            true => format!("{:.0} %", tenths / 10.0),
            false => format!("{:.1} %", tenths / 10.0),
        }
    }

    /// The number of equal parts of which it is one.
    fn parts(self) -> Option<u64> {
        let parts = (1.0 / self.0).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the share itself")]
        ((1.0..1e6).contains(&parts) && Self(1.0 / parts).is_same(self)).then_some(parts as u64)
    }

    /// A share before and after, in one form: `1 in 3` if all parts are equal on both sides, otherwise `40 %`.
    pub fn both(was: Self, is: Self, is_even: bool) -> (String, String) {
        match was.parts().zip(is.parts()).filter(|_| is_even) {
            Some((was, is)) => (format!("1 in {was}"), format!("1 in {is}")),
            None => (was.percent(), is.percent()),
        }
    }

    /// This share of a number, rounded.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate of a number of devices"
    )]
    pub fn of(self, number: u64) -> u64 {
        (self.0 * number as f64).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_names_its_shares_and_those_who_get_nothing() {
        for (weights, control, words) in [
            (&[1, 1][..], 0.2, "40 % / 40 % / 20 % nobody"),
            (&[1, 1, 1], 0.0, "33.3 % / 33.3 % / 33.3 %"),
            (&[3, 1], 0.0, "75 % / 25 %"),
            (&[1, 9_999], 0.5, "below 0.1 % / 50 % / 50 % nobody"),
            (&[i64::MAX, i64::MAX], 0.0, "50 % / 50 %"),
        ] {
            assert_eq!(Split::new(weights.to_vec(), control).to_string(), words);
        }
        assert_eq!(Split::new(vec![2, 3, 1], 0.0).bounds(), [2, 5, 6]);
    }

    #[test]
    fn two_shares_have_one_form() {
        let both = |was, is, is_even| Share::both(Share(was), Share(is), is_even);
        assert_eq!(both(1.0 / 3.0, 0.5, true), ("1 in 3".to_owned(), "1 in 2".to_owned()));
        assert_eq!(both(0.5, 0.25, false), ("50 %".to_owned(), "25 %".to_owned()));
        assert_eq!(Share(0.4).of(13), 5);
    }
}
