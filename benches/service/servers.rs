//! The service, and a bare handler that says the same.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pushplan::service::state::devices::{Device, NO_GROUP, Tags};
use pushplan::service::{self, Running, Settings};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::client::{APP, Answer, ask};

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a free port")
}

/// A service that runs by itself.
pub struct Service {
    runtime: Runtime,
    running: Running,
}

impl Service {
    pub fn start(data: Option<PathBuf>) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let settings = Settings { apps: vec![(APP.0.into(), APP.1.into())], data, ..Settings::default() };
        let start = async { service::start(settings, listener().await).await };
        let running = runtime.block_on(start).expect("a service");
        Self { runtime, running }
    }

    /// Installs that many iOS devices.
    /// Registers devices that carry these tags.
    pub fn install(&self, devices: usize, tags: &[String]) {
        let tags = Tags::from([(NO_GROUP.to_owned(), tags.iter().cloned().collect())]);
        let fill = self.running.engine.write(|state, now| {
            let app = state.app_mut(APP.0).expect("the application");
            for n in 0..devices {
                let (device_type, tags) = ("ios".into(), tags.clone().into());
                let device = Device { device_type, installed: true, opt_in: true, tags, ..Device::default() };
                app.register(&format!("phone-{n}"), device, now);
            }
        });
        self.runtime.block_on(fill).expect("devices");
    }

    pub fn address(&self) -> SocketAddr {
        self.running.address
    }

    pub fn ask(&self, request: &[u8]) -> Answer {
        self.runtime.block_on(ask(self.running.address, request))
    }

    pub fn stop(self) {
        self.runtime.block_on(self.running.stop());
    }
}

/// A handler of hyper's that reads the body and gives one answer, whatever is asked.
pub struct Bare {
    _runtime: Runtime,
    pub address: SocketAddr,
}

impl Bare {
    pub fn start(answer: Answer) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(listener());
        let address = listener.local_addr().expect("an address");
        let said = Arc::new((answer.status, answer.headers, Bytes::from(answer.body)));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let said = said.clone();
                let service = service_fn(move |request: hyper::Request<Incoming>| {
                    let said = said.clone();
                    async move {
                        let _ = request.into_body().collect().await;
                        let (status, headers, body) = &*said;
                        let mut response = hyper::Response::builder().status(*status);
                        for (name, value) in headers {
                            response = response.header(name, value);
                        }
                        response.body(Full::new(body.clone()))
                    }
                });
                tokio::spawn(Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { _runtime: runtime, address }
    }
}
