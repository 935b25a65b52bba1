//! Further options of `serve`: webhooks for events, and deliberate faults.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;
use crate::service::Settings;
use crate::service::faults::{self, Rule, Rules};
use crate::service::webhook::{self, Webhook};
use crate::source::Source;
use crate::text;

#[derive(Debug, Args)]
pub struct ServiceOptions {
    /// Post the events of all applications to this URL; can be repeated.
    #[arg(long, value_name = "URL")]
    webhook: Vec<String>,

    /// Credentials for the URLs of --webhook.
    #[arg(long, value_name = "USER:PASSWORD", requires = "webhook")]
    webhook_auth: Option<String>,

    /// Header for the URLs of --webhook, such as 'X-Team: crm'; can be repeated.
    #[arg(long, value_name = "NAME: VALUE", requires = "webhook")]
    webhook_header: Vec<String>,

    /// PEM file with trusted certificates for https URLs of --webhook, instead of those of this machine.
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_ca: Option<PathBuf>,

    /// File with webhooks; `pushplan explain service.toml` prints a sample.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// File with requests that fail on purpose; `pushplan explain faults.toml` prints a sample.
    ///
    /// On loopback only.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
}

impl ServiceOptions {
    /// The webhooks of a service with these applications.
    pub fn webhooks(&self, apps: &[(String, String)]) -> Result<Vec<Webhook>, Failure> {
        let authorization = self.webhook_auth.as_deref().map(webhook::basic).transpose().map_err(Failure::usage)?;
        let headers = self.webhook_header.iter().map(|line| webhook::header(line));
        let headers: Vec<_> = headers.collect::<Result<_, _>>().map_err(Failure::usage)?;
        let ca = self.webhook_ca.as_deref().map(webhook::read_ca).transpose()?;
        let mut webhooks = Vec::new();
        for url in &self.webhook {
            for (app, _) in apps {
                webhooks.push(Webhook {
                    app: app.clone(),
                    url: url.clone(),
                    types: Vec::new(),
                    headers: headers.clone(),
                    authorization: authorization.clone(),
                    ca: ca.clone(),
                });
            }
        }
        for webhook in &webhooks {
            webhook.checked().map_err(Failure::usage)?;
        }
        if let Some(path) = &self.config {
            let keys: Vec<&str> = apps.iter().map(|(key, _)| key.as_str()).collect();
            webhooks.extend(webhook::read(&open(path)?, &keys).map_err(|why| wrong(why, "service.toml"))?);
        }
        Ok(webhooks)
    }

    /// The rows about them on the start screen, if there are any.
    pub fn shown(&self, settings: &Settings) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if !self.webhook.is_empty() || self.config.is_some() {
            let mut urls: Vec<String> = settings.webhooks.iter().map(|webhook| webhook::shown(&webhook.url)).collect();
            urls.dedup();
            rows.push(("Webhooks", first_few(&urls).unwrap_or_else(|| none_of(self.config.as_deref(), "webhook"))));
        }
        if let Some(Rules { seed, rules }) = &settings.faults {
            let each = |rule: &Rule| {
                let method = rule.method.as_ref().map_or(String::new(), |method| format!("{method} "));
                format!("{} on {method}{}", rule.fault.kind(), rule.path)
            };
            let rules: Vec<String> = rules.iter().map(each).collect();
            let some = first_few(&rules).map(|few| format!("{few}; seed {seed}"));
            rows.push(("Faults", some.unwrap_or_else(|| none_of(self.faults.as_deref(), "fault"))));
        }
        rows
    }

    /// The deliberate faults.
    pub fn faults(&self) -> Result<Option<Rules>, Failure> {
        let Some(path) = &self.faults else { return Ok(None) };
        faults::read(&open(path)?).map(Some).map_err(|why| wrong(why, "faults.toml"))
    }
}

fn open(path: &Path) -> Result<Source, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| Failure::new(format!("{name}: {error}")))?;
    Ok(Source::new(name, text))
}

fn wrong(why: anyhow::Error, sample: &str) -> Failure {
    Failure::from(why).help(format!("`pushplan explain {sample}` prints a sample with all settings"))
}

/// The number of names in a line of the screen.
const FEW: usize = 3;

/// Some names and the number of others, for one line; `None` if there are none.
fn first_few<S: AsRef<str>>(names: &[S]) -> Option<String> {
    let mut few: Vec<String> = names.iter().take(FEW).map(|name| name.as_ref().to_owned()).collect();
    if names.len() > FEW {
        few.push(format!("{} more", names.len() - FEW));
    }
    (!few.is_empty()).then(|| text::all_of(&few))
}

fn none_of(file: Option<&Path>, what: &str) -> String {
    let file = file.map_or(String::new(), |file| file.display().to_string());
    format!("none: {file} has no [[{what}]]")
}
