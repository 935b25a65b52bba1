//! The meaning of a target's settings, and invalid settings.

use pushplan_io::client::{FINGERPRINT, Origin};
use pushplan_ledger::place;
use pushplan_model::address::{is_key, to_key};
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::recipient::Recipient;
use pushplan_model::text;

use super::super::variables::Variables;
use super::Target;

/// The finding for a name that a shell, a workflow or a ledger could misinterpret. `names` are those of all targets.
pub(super) fn wrong_name(name: &At<String>, names: &[&str]) -> Option<Finding> {
    if is_key(name) {
        return None;
    }
    let message = format!("`{}` is not a valid name of a target", text::short(name, 60));
    let finding = Finding::new(&codes::YM303, name.span, message)
        .label("up to 128 letters, digits, -, _ and .")
        .note("a target's name is used on command lines, in workflows and as the name of its ledger");
    Some(match to_key(name) {
        near if near.is_empty() || names.contains(&near.as_str()) => {
            finding.help("choose a name that begins with a letter or a digit, such as [targets.production]")
        }
        near if near.contains('.') => finding.help(format!("write [targets.\"{near}\"]")),
        near => finding.help(format!("write [targets.{near}]")),
    })
}

/// The finding for a target with a `base_url` that does not configure its ledger. A default would be a folder that a
/// colleague's clone or the next CI runner does not have, and each of them would create and send everything again.
pub(super) fn no_ledger(name: &At<String>, target: &Target) -> Option<Finding> {
    let url = target.base_url.as_ref().filter(|_| target.ledger.is_none())?;
    let name = text::short(name, 60);
    let finding = Finding::new(&codes::YM304, url.span, format!("target `{name}` does not name its ledger"))
        .label("required for a target with a base_url")
        .note("a clone or CI runner without the ledger would create and send everything again")
        .help(format!(
            "add `ledger = \"git\"` to the target; the choices are {}. If something was applied already from `.pushplan/` on \
             this machine, also run: pushplan ledger move --from file: --to git --target {name}",
            place::choices()
        ));
    Some(finding)
}

/// The name of the target that is the built-in service unless its settings say otherwise.
pub const LOCAL: &str = "local";

impl Target {
    /// Whether the target of this name is the built-in service.
    pub fn is_built_in(&self, name: &str) -> bool {
        let default = name == LOCAL;
        self.base_url.is_none() && self.built_in.as_ref().map_or(default, |it| it.value)
    }

    /// How long a request without an answer may still take effect.
    pub fn settle(&self) -> Delay {
        self.settle.as_ref().map_or(Delay(10), |settle| settle.value)
    }

    /// Whether the target allows test messages to a recipient; `None` without a setting.
    pub fn may_test(&self, recipient: &Recipient) -> Option<bool> {
        let sends = self.test_sends.as_ref().map(|sends| sends.value);
        let named = self.test_recipients.as_ref().map(|all| all.iter().any(|pattern| recipient.is_like(pattern)));
        match (sends, named) {
            (Some(false), _) => Some(false),
            (sends, None) => sends,
            (_, named) => named,
        }
    }

    pub fn values(&self) -> Variables {
        self.variables.iter().map(|(name, value)| (name.value.clone(), value.value.0.clone())).collect()
    }

    /// Reports values that have the right type and are invalid.
    pub(super) fn inspect(&self, findings: &mut Findings) {
        let mut wrong = |span, message: String, expected: &str| {
            findings.push(Finding::new(&codes::YM206, span, message).label(format!("expected {expected}")));
        };
        if let (Some(built_in), Some(_)) = (self.built_in.as_ref().filter(|it| it.value), &self.base_url) {
            let message = "a target with a `base_url` is not the built-in service".to_owned();
            wrong(built_in.span, message, "`built_in` or `base_url`, not both");
        }
        if let Some(url) = &self.base_url
            && let Err(why) = Origin::parse(url)
        {
            wrong(url.span, why.to_string(), "an address such as https://messaging.example");
        }
        if let Some(place) = &self.ledger
            && let Some(why) = place::objection(place)
        {
            wrong(
                place.span,
                why,
                "such as git, s3://bucket/prefix or postgres://host/database/schema, without a password",
            );
        }
        if let Some(print) = &self.app_key_fingerprint
            && (print.len() != FINGERPRINT || !print.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)))
        {
            let message = format!("`{print}` is not the fingerprint of an app key");
            wrong(print.span, message, "12 digits from 0 to 9 and a to f");
        }
        if let Some(most) = &self.max_deletes
            && most.value < 0
        {
            wrong(most.span, format!("`{}` is not a number of deletions", most.value), "0 or more");
        }
        for pattern in self.test_recipients.iter().flatten().filter(|pattern| !Recipient::is_pattern(pattern)) {
            let message = format!("`{}` does not select single recipients", text::short(pattern, 60));
            wrong(pattern.span, message, "such as \"named_user:qa-*\" or \"ios_channel:ID\"");
        }
        if let Some(time) = self.send_within.as_ref().filter(|time| time.value.0 < 1) {
            wrong(time.span, format!("`{}` is too short to send a request", time.value.0), "1s or more");
        }
        let within = self.send_within.as_ref().map_or(60, |time| time.value.0);
        if let Some(time) = self.lease.as_ref().filter(|time| time.value.0 < within.saturating_mul(2)) {
            let least = Delay(within.saturating_mul(2)).written();
            let message = format!(
                "`{}` is too short for a lease: a request may take {within} s to be sent",
                time.value.written()
            );
            wrong(time.span, message, &format!("{least} or more, twice `send_within`"));
        }
        for time in [&self.min_lead, &self.settle, &self.apart].into_iter().flatten().filter(|time| time.value.0 < 0) {
            wrong(time.span, format!("`{}` is not a duration", time.value.0), "0 or more");
        }
    }
}
