//! A proxy between a store and its server that loses messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The fault for a request that creates a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It never arrives.
    RequestLost,
    /// It arrives and is carried out; the response is lost.
    AnswerLost,
    /// It arrives long after its sender has given up.
    Late,
    /// It arrives and is carried out, and nothing passes from then on.
    AnswerLostForGood,
    /// It never arrives, and the connection stays open.
    Swallowed,
}

/// A proxy on its own port. The first requests that create a record meet the fault.
pub struct Proxy {
    pub port: u16,
    pub met: Arc<AtomicUsize>,
}

impl Proxy {
    pub async fn new(server: u16, fault: Fault, times: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (met, is_gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let counted = met.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if is_gone.load(Ordering::SeqCst) {
                    continue;
                }
                let upstream = TcpStream::connect(("127.0.0.1", server)).await.expect("the server");
                tokio::spawn(carry(client, upstream, fault, times, counted.clone(), is_gone.clone()));
            }
        });
        Self { port, met }
    }
}

async fn carry(
    mut client: TcpStream,
    mut server: TcpStream,
    fault: Fault,
    times: usize,
    met: Arc<AtomicUsize>,
    is_gone: Arc<AtomicBool>,
) {
    let (mut request, mut answer) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let Ok(length @ 1..) = read else { return };
                let part = &request[..length];
                let creates = part.windows(12).any(|window| window == b"insert into ");
                if creates && met.fetch_add(1, Ordering::SeqCst) < times {
                    return spoil(client, server, part, fault, &is_gone).await;
                }
                if server.write_all(part).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answer) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answer[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn spoil(client: TcpStream, mut server: TcpStream, part: &[u8], fault: Fault, is_gone: &AtomicBool) {
    let mut answer = vec![0; 1 << 16];
    match fault {
        Fault::RequestLost => {}
        Fault::AnswerLost | Fault::AnswerLostForGood => {
            is_gone.store(fault == Fault::AnswerLostForGood, Ordering::SeqCst);
            server.write_all(part).await.expect("the server takes it");
            let length = server.read(&mut answer).await.expect("the server answers");
            assert!(length > 0);
        }
        Fault::Late => {
            drop(client);
            tokio::time::sleep(Duration::from_millis(700)).await;
            server.write_all(part).await.expect("the server takes it");
            let length = server.read(&mut answer).await.expect("the server answers");
            assert!(length > 0);
        }
        Fault::Swallowed => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            drop(client);
        }
    }
}
