use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use tokio::net::TcpListener;

use super::service_options::ServiceOptions;
use super::{Context, Ended};
use crate::failure::{Exit, Failure};
use crate::service::{self, Level, Settings, VENDOR};

/// Run the messaging service on this machine: no account is needed.
#[derive(Debug, Args)]
pub struct Serve {
    /// The port on loopback; any free one where it is 0.
    #[arg(long, default_value_t = 8420)]
    port: u16,

    /// What the service offers: the contract alone, or also the verbs that the live service has gained.
    #[arg(long, value_enum, default_value_t = Api::Extended)]
    api: Api,

    /// An application, as key and secret. Several can be given; they share nothing.
    #[arg(long, value_name = "KEY:SECRET")]
    app: Vec<String>,

    /// The file that keeps everything. In memory where it is left out.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Start a virtual clock at this time, such as 2026-11-27T08:59Z. It moves when it is told to.
    #[arg(long, value_name = "TIME")]
    clock: Option<Timestamp>,

    /// The vendor's word in the media type.
    #[arg(long, default_value = VENDOR)]
    vendor: String,

    #[command(flatten)]
    options: ServiceOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Api {
    Documented,
    Extended,
}

/// The application of a service that was given none. It is no secret: the service listens on loopback.
const DEFAULT_APP: (&str, &str) = ("local-application-key0", "local-master-secret-00");

impl Serve {
    pub fn run(&self, context: &Context) -> Ended {
        let mut apps = Vec::new();
        for pair in &self.app {
            let (key, secret) = pair
                .split_once(':')
                .filter(|(key, secret)| !key.is_empty() && !secret.is_empty())
                .ok_or_else(|| Failure::usage("an application is given as KEY:SECRET"))?;
            apps.push((key.to_owned(), secret.to_owned()));
        }
        if apps.is_empty() {
            apps.push((DEFAULT_APP.0.to_owned(), DEFAULT_APP.1.to_owned()));
        }
        let webhooks = self.options.webhooks(&apps)?;
        let settings = Settings {
            api: match self.api {
                Api::Documented => Level::Documented,
                Api::Extended => Level::Extended,
            },
            apps,
            data: self.data.clone(),
            clock: self.clock,
            vendor: self.vendor.clone(),
            webhooks,
            faults: self.options.faults()?,
            ..Settings::default()
        };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::new(error.to_string()))?;
        runtime.block_on(self.serve(context, settings))
    }

    async fn serve(&self, context: &Context, settings: Settings) -> Ended {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Failure::new(format!("port {} cannot be used: {error}", self.port)).help("choose another with --port")
        })?;
        let running = service::start(settings.clone(), listener).await.map_err(|error| Failure::new(error.0))?;
        let (key, secret) = &settings.apps[0];
        context.out.print(&format!(
            "Ready on http://{}\n\n  export PUSHPLAN_ORIGIN=http://{}\n  export PUSHPLAN_APP_KEY={key}\n  export PUSHPLAN_MASTER_SECRET={secret}\n\nCtrl-C stops it.",
            running.address, running.address
        ));
        let _ = tokio::signal::ctrl_c().await;
        running.stop().await;
        Ok(Exit::Done)
    }
}
