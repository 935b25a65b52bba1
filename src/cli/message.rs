//! A declared message of the project, for commands that show or send one.

use std::path::PathBuf;

use anyhow::Context as _;

use super::Context;
use super::planning::{self, TargetArgs};
use crate::address::Address;
use crate::codes::Severity;
use crate::engine::target;
use crate::failure::{Failure, FailureKind};
use crate::finding::Finding;
use crate::kinds::{Parts, Resource, Template};
use crate::look::{Spoken, Values};
use crate::manifest::{Declared, Desired, Manifests, read_project};
use crate::text;

/// Parses `KEY=VALUE`, whose value may contain further `=`.
pub fn pair(text: &str) -> anyhow::Result<(String, String)> {
    let (key, value) = text.split_once('=').context("expected KEY=VALUE, such as FIRST_NAME=Anna")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

/// A project that was read for one of its messages. Other parts of it may have errors.
pub struct Source {
    root: PathBuf,
    pub manifests: Manifests,
    pub desired: Desired,
    found: Vec<Finding>,
}

/// A message, and the position of its declaration.
pub struct DeclaredMessage<'s> {
    pub parts: Parts<'s>,
    /// `messages/templates.yaml:18`
    pub place: String,
}

impl Source {
    /// Reads the project for its target. A project without targets has no variables and no overlays, but it has
    /// messages.
    pub fn read(place: &TargetArgs, needs_target: bool) -> Result<Self, Failure> {
        let root = place.root()?;
        let manifests = read_project(&root, None);
        let is_bare = manifests.project.target_names().is_empty() && place.target().is_none();
        let target = match is_bare && !needs_target {
            true => None,
            false => Some(target::choose(&manifests.project, place.target())?.0),
        };
        let (desired, found) = manifests.resolve(target.as_deref());
        Ok(Self { root, manifests, desired, found })
    }

    /// The name that recipients see as the sender.
    pub fn app(&self) -> String {
        let named = self.manifests.project.file.project.as_ref().and_then(|about| about.name.as_ref());
        let folder = || self.root.file_name().map(|name| name.to_string_lossy().into_owned());
        named.map(|name| name.value.clone()).or_else(folder).unwrap_or_default()
    }

    /// The message of an address, or why it cannot be shown.
    pub fn message(&self, address: &Address, context: &Context) -> Result<DeclaredMessage<'_>, Failure> {
        let all = self.found.iter().chain(&self.manifests.findings);
        let errors: Vec<&Finding> = all.filter(|finding| finding.severity == Severity::Error).collect();
        let declared = self.declared(address, &errors, context)?;
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        self.readable(address, &parts, &errors, context)?;
        if parts.said.is_empty() {
            return Err(Failure::usage(format!("{address} has no message"))
                .help("templates, scheduled pushes, pipelines and experiments have one"));
        }
        if errors.iter().any(|finding| finding.address.as_ref() != Some(address)) {
            context.out.note("Other manifests have errors; `pushplan validate` shows them.");
        }
        let place = declared.key.span.file().map(|file| {
            let source = self.manifests.sources.get(file);
            format!("{}:{}", source.path, source.position(declared.key.span.range().start).line)
        });
        Ok(DeclaredMessage { parts, place: place.unwrap_or_default() })
    }

    /// The declaration of the address, or why it cannot be shown.
    fn declared(&self, address: &Address, errors: &[&Finding], context: &Context) -> Result<&Declared, Failure> {
        let desired = &self.desired;
        if let Some(declared) = desired.resources.get(address) {
            return Ok(declared);
        }
        if desired.broken.contains(address) {
            return Err(self.broken(address, address, errors, context));
        }
        let known: Vec<String> = desired.resources.keys().chain(&desired.broken).map(Address::to_string).collect();
        let failure = Failure::usage(format!("{address} is not declared"));
        Err(match text::nearest(&address.to_string(), known.iter().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None if !desired.complete => {
                planning::tell(&self.manifests, self.manifests.findings.iter(), false, context);
                failure.kind(FailureKind::Invalid).help("some manifests cannot be read: it may be in one of them")
            }
            None => failure.help(
                "write an address such as templates/winback; `pushplan graph` lists all declared \
                resources",
            ),
        })
    }

    /// Refuses a message that was only partly read: a push without its template would seem empty.
    fn readable(
        &self,
        address: &Address,
        parts: &Parts,
        errors: &[&Finding],
        context: &Context,
    ) -> Result<(), Failure> {
        let desired = &self.desired;
        if errors.iter().any(|finding| finding.address.as_ref() == Some(address)) {
            return Err(self.broken(address, address, errors, context));
        }
        for name in parts.pushes.iter().filter_map(|push| push.template.as_ref()) {
            let template = Address::new(Template::KEY, name.0.clone());
            if desired.broken.contains(&template) {
                return Err(self.broken(address, &template, errors, context));
            }
            if !desired.resources.contains_key(&template) {
                let failure = Failure::new(format!("{address} uses the template {template}, which is not declared"));
                return Err(match text::nearest(&name.0, desired.keys::<Template>()) {
                    Some(near) => failure.kind(FailureKind::Invalid).help(format!("did you mean `{near}`?")),
                    None => failure.kind(FailureKind::Invalid).help("declare it under `templates:`"),
                });
            }
        }
        Ok(())
    }

    /// The failure for a resource with errors, which are shown.
    fn broken(&self, address: &Address, at: &Address, errors: &[&Finding], context: &Context) -> Failure {
        let own = errors.iter().copied().filter(|finding| finding.address.as_ref() == Some(at));
        planning::tell(&self.manifests, own, false, context);
        let message = match address == at {
            true => format!("{address} has errors and cannot be shown"),
            false => format!("{address} uses the template {at}, which has errors"),
        };
        Failure::new(message).kind(FailureKind::Invalid).help("correct them; `pushplan validate` shows all of them")
    }
}

/// Refuses values for unknown variables. `option` is the option with the values.
pub(crate) fn check_keys(address: &Address, set: &Values, spoken: &[Spoken], option: &str) -> Result<(), Failure> {
    let variables = spoken.iter().flat_map(|one| one.said.variables.unwrap_or(&[]));
    let known: Vec<&str> = variables.map(|variable| variable.key.as_str()).collect();
    let Some(wrong) = set.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let failure = Failure::usage(format!("{address} has no variable `{wrong}`"));
    Err(match text::nearest(wrong, known.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => failure.help(format!("it has no variables: omit {option}")),
        None => failure.help(format!("expected {}", text::any_of(&known))),
    })
}
