//! The store of a place, and its clients.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{ClientOptions, HttpClient, HttpConnector};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};

/// The operations of the crate's stores that are used.
pub trait Objects: ObjectStore + PaginatedListStore {}

impl<T: ObjectStore + PaginatedListStore> Objects for T {}

/// The two clients of a store.
#[derive(Clone)]
pub struct Ways {
    /// Retries: reading twice does no harm.
    pub read: Arc<dyn Objects>,
    /// Does not retry: a create that is repeated after a lost answer would be refused because of itself.
    pub write: Arc<dyn Objects>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    Amazon,
    Google,
    Azure,
}

const PROVIDERS: [Provider; 3] = [Provider::Amazon, Provider::Google, Provider::Azure];

impl Provider {
    fn scheme(self) -> &'static str {
        match self {
            Self::Amazon => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
        }
    }

    /// The prefix of its environment variables.
    fn prefix(self) -> &'static str {
        match self {
            Self::Amazon => "AWS_",
            Self::Google => "GOOGLE_",
            Self::Azure => "AZURE_",
        }
    }

    fn check(self, bucket: &str) -> String {
        match self {
            Self::Amazon => format!(
                "check that the bucket `{bucket}` exists, its region (AWS_REGION), the credentials (AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY, or those of the machine; a profile is not read) and the endpoint (AWS_ENDPOINT_URL)"
            ),
            Self::Google => format!(
                "check that the bucket `{bucket}` exists, and the credentials (GOOGLE_APPLICATION_CREDENTIALS, or those of the \
                 machine)"
            ),
            Self::Azure => format!(
                "check that the container `{bucket}` exists, the account (AZURE_STORAGE_ACCOUNT_NAME), the credentials \
                 (AZURE_STORAGE_ACCOUNT_KEY, or those of the machine) and the endpoint (AZURE_STORAGE_ENDPOINT)"
            ),
        }
    }
}

/// A place such as `s3://bucket/prefix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPlace {
    provider: Provider,
    bucket: String,
    /// Empty, or ends with a slash.
    prefix: String,
}

impl ObjectPlace {
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let of =
            |provider: Provider| text.strip_prefix(provider.scheme())?.strip_prefix("://").map(|rest| (provider, rest));
        let Some((provider, rest)) = PROVIDERS.into_iter().find_map(of) else {
            bail!("a store of objects is s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX");
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let scheme = provider.scheme();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if bucket.is_empty() || !bucket.chars().all(is_plain) {
            // It may contain a password, so it is not repeated.
            bail!(
                "after {scheme}:// the place of the ledger begins with the name of a bucket: letters, digits, `-`, \
                    `_` and `.`, without a password; credentials come from the environment"
            );
        }
        if prefix.contains(['?', '#']) {
            bail!("the {scheme}:// place of the ledger has no `?` and no `#`; credentials come from the environment");
        }
        let path = Path::parse(prefix)
            .map_err(|error| anyhow!("`{scheme}://{bucket}/{prefix}` is not a valid place for objects: {error}"))?;
        let prefix = if path.as_ref().is_empty() { String::new() } else { format!("{path}/") };
        Ok(Self { provider, bucket: bucket.to_owned(), prefix })
    }

    /// Returns the prefix of the keys of a target's objects.
    pub fn folder(&self, target: &str) -> String {
        format!("{}{target}/", self.prefix)
    }

    pub fn shown(&self, key: &str) -> String {
        format!("{}://{}/{key}", self.provider.scheme(), self.bucket)
    }

    /// What to check if the store cannot be reached.
    pub fn check(&self) -> String {
        self.provider.check(&self.bucket)
    }

    /// Creates the clients. Fails if the settings are inconsistent, or if the machine has no certificates.
    pub fn ways(&self, settings: &StoreVariables, limit: Duration) -> anyhow::Result<Ways> {
        // Another part of the program may have installed a provider, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let ways = match self.provider {
            Provider::Amazon => self.amazon(settings, limit),
            Provider::Google => self.google(settings, limit),
            Provider::Azure => self.azure(settings, limit),
        };
        ways.map_err(|why| anyhow!(settings.mask(&why.to_string())))
    }
}

/// The crate's builders have the same methods and no trait in common. Configures one from the environment, and builds
/// both clients with it.
macro_rules! both_ways {
    ($place:expr, $settings:expr, $limit:expr, $builder:expr, $bucket:ident, $key:ident, $endpoint:expr) => {{
        let mut builder = $builder;
        for (name, value) in $settings.of($place.provider.prefix()) {
            if let Ok(key) = name.to_ascii_lowercase().parse::<$key>() {
                builder = builder.with_config(key, value);
            }
        }
        let limit = format!("{} ms", $limit.as_millis());
        builder = builder
            .$bucket(&$place.bucket)
            .with_config($key::Client(ClientConfigKey::Timeout), limit)
            .with_config($key::Client(ClientConfigKey::ConnectTimeout), "10 s")
            .with_config($key::Client(ClientConfigKey::UserAgent), AGENT);
        let endpoint: fn(&_) -> Option<String> = $endpoint;
        match $place.wire(endpoint(&builder).as_deref(), $settings)? {
            Wire::Secure => {}
            Wire::Local => builder = builder.with_http_connector(Local { limit: $limit }),
            Wire::Open => builder = builder.with_config($key::Client(ClientConfigKey::AllowHttp), "true"),
        }
        let read = builder.clone().with_retry(again()).build()?;
        let once = RetryConfig { max_retries: 0, ..again() };
        let write = builder.with_credentials(Arc::clone(read.credentials())).with_retry(once).build()?;
        Ok(Ways { read: Arc::new(read), write: Arc::new(write) })
    }};
}

const AGENT: &str = concat!("pushplan/", env!("CARGO_PKG_VERSION"));

impl ObjectPlace {
    fn amazon(&self, settings: &StoreVariables, limit: Duration) -> anyhow::Result<Ways> {
        both_ways!(
            self,
            settings,
            limit,
            AmazonS3Builder::new(),
            with_bucket_name,
            AmazonS3ConfigKey,
            |builder: &AmazonS3Builder| {
                let value = |key| builder.get_config_value(&key);
                value(AmazonS3ConfigKey::S3Endpoint).or_else(|| value(AmazonS3ConfigKey::Endpoint))
            }
        )
    }

    fn google(&self, settings: &StoreVariables, limit: Duration) -> anyhow::Result<Ways> {
        both_ways!(
            self,
            settings,
            limit,
            settings.one("SERVICE_ACCOUNT").map_or_else(GoogleCloudStorageBuilder::new, |path| {
                GoogleCloudStorageBuilder::new().with_service_account_path(path)
            }),
            with_bucket_name,
            GoogleConfigKey,
            |builder: &GoogleCloudStorageBuilder| builder.get_config_value(&GoogleConfigKey::BaseUrl)
        )
    }

    fn azure(&self, settings: &StoreVariables, limit: Duration) -> anyhow::Result<Ways> {
        both_ways!(
            self,
            settings,
            limit,
            settings.one("IDENTITY_ENDPOINT").map_or_else(MicrosoftAzureBuilder::new, |endpoint| {
                MicrosoftAzureBuilder::new().with_msi_endpoint(endpoint)
            }),
            with_container_name,
            AzureConfigKey,
            |builder: &MicrosoftAzureBuilder| builder.get_config_value(&AzureConfigKey::Endpoint)
        )
    }

    fn wire(&self, endpoint: Option<&str>, settings: &StoreVariables) -> anyhow::Result<Wire> {
        let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.starts_with("https://")) else {
            return Ok(Wire::Secure);
        };
        let url = reqwest::Url::parse(endpoint).ok().filter(|url| url.scheme() == "http");
        let Some(url) = url else { bail!("its endpoint does not begin with https://") };
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let allow = format!("{}ALLOW_HTTP", self.provider.prefix());
        if host == "localhost" || literal.is_ok_and(|address| address.to_canonical().is_loopback()) {
            Ok(Wire::Local)
        } else if settings.one(&allow).is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "1"))
        {
            Ok(Wire::Open)
        } else {
            Err(anyhow!(
                "its endpoint http://{host} is not https: records would be sent unencrypted; use https, or \
                 set {allow}=true"
            ))
        }
    }
}

/// The connection to a store.
enum Wire {
    Secure,
    /// On this machine.
    Local,
    /// Not encrypted, because the user allowed it.
    Open,
}

/// Connects only to this machine: without a proxy, and without certificates, which a machine may not have.
#[derive(Debug)]
struct Local {
    limit: Duration,
}

impl HttpConnector for Local {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client =
            reqwest::Client::builder().user_agent(AGENT).timeout(self.limit).no_proxy().tls_certs_only([]).build();
        let client = client.map_err(|error| object_store::Error::Generic { store: "HTTP", source: error.into() })?;
        Ok(HttpClient::new(client))
    }
}

/// How often reading is retried.
fn again() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: 4, retry_timeout: Duration::from_secs(10) }
}

/// The environment variables that configure a store.
#[derive(Clone)]
pub struct StoreVariables(Vec<(String, String)>);

impl fmt::Debug for StoreVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Settings")
    }
}

impl StoreVariables {
    /// Selects the variables of stores from all variables.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_known = |name: &str| {
            PROVIDERS.iter().any(|provider| name.starts_with(provider.prefix()))
                || matches!(name, "SERVICE_ACCOUNT" | "IDENTITY_ENDPOINT")
        };
        Self(variables.into_iter().filter(|(name, value)| is_known(name) && !value.is_empty()).collect())
    }

    pub(crate) fn of_the_process() -> Self {
        Self::new(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    fn of<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(move |(name, _)| name.starts_with(prefix))
    }

    fn one(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Removes every secret of the settings from a text.
    pub fn mask(&self, text: &str) -> String {
        let is_secret = |name: &str| {
            ["KEY", "SECRET", "TOKEN", "SAS", "PASSWORD", "PROXY"].iter().any(|word| name.contains(word))
                && !name.ends_with("_FILE")
                && !name.ends_with("_PATH")
        };
        let secrets = self.0.iter().filter(|(name, value)| is_secret(name) && value.len() >= 4);
        secrets.fold(text.to_owned(), |text, (_, value)| text.replace(value.as_str(), "[hidden]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> StoreVariables {
        StoreVariables::new(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn a_place_is_a_bucket_and_a_prefix() {
        let shown = |text: &str| ObjectPlace::parse(text).map(|place| place.shown(&place.folder("local"))).ok();
        assert_eq!(shown("s3://team/pushes"), Some("s3://team/pushes/local/".into()));
        assert_eq!(shown("gs://team/pushes/eu/"), Some("gs://team/pushes/eu/local/".into()));
        assert_eq!(shown("az://team"), Some("az://team/local/".into()));
        for odd in ["s3:team", "http://team", "s3://", "s3:///x", "s3://team/../x", "s3://team/a//b", "s3://team/a?b=c"]
        {
            assert!(ObjectPlace::parse(odd).is_err(), "{odd}");
        }
        let refused = ObjectPlace::parse("s3://ada:hush-hush@team/x").expect_err("a password").to_string();
        assert!(!refused.contains("hush") && refused.contains("environment"), "{refused}");
    }

    #[test]
    fn what_is_not_encrypted_stays_on_this_machine_unless_it_is_allowed() {
        let place = ObjectPlace::parse("s3://team").expect("a place");
        let open = |variables: &[(&str, &str)]| {
            place
                .ways(&settings(variables), Duration::from_secs(1))
                .map(|_| ())
                .map_err(|why| why.to_string().replace('\n', " "))
        };
        let (key, secret) = (("AWS_ACCESS_KEY_ID", "someone"), ("AWS_SECRET_ACCESS_KEY", "hush-hush"));
        for near in ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"] {
            assert_eq!(open(&[("AWS_ENDPOINT_URL", near), key, secret]), Ok(()), "{near}");
        }
        let far = ("AWS_ENDPOINT_URL", "http://store.example:9000");
        let refused = open(&[far, key, secret]).expect_err("not encrypted");
        assert!(refused.contains("http://store.example") && refused.contains("AWS_ALLOW_HTTP"), "{refused}");
        let odd = open(&[("AWS_ENDPOINT_URL_S3", "store.example"), key, secret]).expect_err("no URL");
        assert!(odd.contains("https://"), "{odd}");
    }

    #[test]
    fn a_secret_of_the_settings_is_in_no_text() {
        let settings =
            settings(&[("AWS_SECRET_ACCESS_KEY", "hush-hush"), ("AWS_SESSION_TOKEN", "tok/en+1"), ("HOME", "tok")]);
        assert_eq!(settings.mask("a hush-hush b tok/en+1 c tok"), "a [hidden] b [hidden] c tok");
        assert!(!format!("{settings:?}").contains("hush"));
    }
}
