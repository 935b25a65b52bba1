//! The connections of `service.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use pushplan_model::source::Source;
use serde::Deserialize;
use toml::Spanned;

use super::{Webhook, basic, check_header, check_type, check_url, header_value, read_ca};
use crate::config::{at, read as read_toml};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookFile {
    #[serde(default)]
    webhook: Vec<WebhookTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookTable {
    url: Spanned<String>,
    /// All applications if it is omitted.
    app: Option<Spanned<String>>,
    #[serde(default)]
    types: Vec<Spanned<String>>,
    #[serde(default)]
    headers: BTreeMap<Spanned<String>, Spanned<String>>,
    /// A user and a password.
    auth: Option<Spanned<String>>,
    /// Any other value of the header.
    authorization: Option<Spanned<String>>,
    /// A PEM file. A relative path is relative to this file.
    ca: Option<Spanned<String>>,
}

/// Returns the connections in a file, for a service with the given applications.
pub fn read(source: &Source, apps: &[&str]) -> anyhow::Result<Vec<Webhook>> {
    let file: WebhookFile = read_toml(source)?;
    let mut webhooks = Vec::new();
    for entry in file.webhook {
        webhooks.extend(understand(source, &entry, apps)?);
    }
    Ok(webhooks)
}

/// Returns one connection for each application of the entry.
fn understand(source: &Source, entry: &WebhookTable, apps: &[&str]) -> anyhow::Result<Vec<Webhook>> {
    let WebhookTable { url, app, types, headers, auth, authorization, ca } = entry;
    let wrong = |value: &Spanned<String>, why: anyhow::Error| at(source, value.span(), &why.to_string());
    check_url(url.get_ref()).map_err(|why| wrong(url, why))?;
    for kind in types {
        check_type(kind.get_ref()).map_err(|why| wrong(kind, why))?;
    }
    for (name, value) in headers {
        check_header(name.get_ref(), value.get_ref()).map_err(|why| wrong(name, why))?;
    }
    let authorization = match (auth, authorization) {
        (Some(_), Some(value)) => return Err(wrong(value, anyhow!("give `auth` or `authorization`, not both"))),
        (Some(pair), None) => Some(basic(pair.get_ref()).map_err(|why| wrong(pair, why))?),
        (None, Some(value)) => {
            header_value("authorization", value.get_ref()).map_err(|why| wrong(value, why))?;
            Some(value.get_ref().clone())
        }
        (None, None) => None,
    };
    let beside = Path::new(&*source.path).parent().unwrap_or(Path::new(""));
    let read_ca = |file: &Spanned<String>| read_ca(&beside.join(file.get_ref())).map_err(|why| wrong(file, why));
    let ca = ca.as_ref().map(read_ca).transpose()?;
    let apps = match app {
        None => apps.to_vec(),
        Some(app) if apps.contains(&app.get_ref().as_str()) => vec![app.get_ref().as_str()],
        Some(app) => {
            let known = pushplan_model::text::all_of(apps);
            return Err(wrong(app, anyhow!("there is no application `{}`; there is {known}", app.get_ref())));
        }
    };
    let webhook = |app: &str| Webhook {
        app: app.to_owned(),
        url: url.get_ref().clone(),
        types: types.iter().map(|kind| kind.get_ref().clone()).collect(),
        headers: headers.iter().map(|(name, value)| (name.get_ref().clone(), value.get_ref().clone())).collect(),
        authorization: authorization.clone(),
        ca: ca.clone(),
    };
    Ok(apps.into_iter().map(webhook).collect())
}
