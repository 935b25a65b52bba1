use tokio::net::TcpListener;

use super::*;
use crate::{Running, Settings, start};

const APP: (&str, &str) = ("key", "secret");
/// Long enough for an answer that does not have to wait.
const A_WHILE: Duration = Duration::from_millis(300);

async fn service(folder: &tempfile::TempDir) -> Running {
    let settings = Settings {
        apps: vec![(APP.0.into(), APP.1.into())],
        data: Some(folder.path().join("service.db")),
        ..Settings::default()
    };
    start(settings, TcpListener::bind("127.0.0.1:0").await.expect("a port")).await.expect("a service")
}

async fn ask(running: &Running, method: &str, path: &str) -> (u16, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
    let url = format!("http://{}{path}", running.address);
    let request = client.request(method.parse().expect("a method"), url).basic_auth(APP.0, Some(APP.1));
    let reply = request.send().await.expect("an answer");
    (reply.status().as_u16(), reply.text().await.expect("a text"))
}

#[expect(clippy::await_holding_lock, reason = "the lock is the disk: whoever waits for it is what this is about")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_crash_could_still_undo_is_shown_to_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = service(&folder).await;
    for round in 0..3 {
        let tag = format!("new-{round}");
        let slow = running.engine.store.as_ref().expect("a store").hold();
        let put = format!("/api/tags/{tag}");
        let mut written = Box::pin(ask(&running, "PUT", &put));
        assert!(tokio::time::timeout(A_WHILE, &mut written).await.is_err(), "answered before it was kept");
        assert!(
            running.engine.read(|state, _| state.app(APP.0).is_some_and(|app| app.legacy_tags.get(&tag).is_some()))
        );
        for path in ["/api/tags", "/local/due", "/local/health"] {
            let early = tokio::time::timeout(A_WHILE, ask(&running, "GET", path)).await;
            assert!(early.is_err(), "{path} was answered before what it shows was kept");
        }
        let mut shown = Box::pin(ask(&running, "GET", "/api/tags"));
        assert!(tokio::time::timeout(A_WHILE, &mut shown).await.is_err());
        drop(slow);
        assert_eq!(written.await.0, 201);
        assert!(shown.await.1.contains(&tag));
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_wait_for_the_disk_share_a_transaction() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = service(&folder).await;
    let store = running.engine.store.as_ref().expect("a store");
    let tag = |name: &str| {
        let put = |state: &mut State, _| {
            let app = state.app_mut(APP.0).expect("the application");
            app.legacy_tags.put(&mut app.journal, name, Timestamp::UNIX_EPOCH);
        };
        running.engine.change(put).expect("changed").1.expect("a ticket")
    };
    tag("before").kept().await.expect("kept");
    let slow = store.hold();
    let names: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let tickets: Vec<Ticket> = names.iter().map(|name| tag(name)).collect();
    drop(slow);
    let before = store.transactions();
    for ticket in tickets {
        ticket.kept().await.expect("kept");
    }
    assert!(store.transactions() <= before + 2, "{} transactions", store.transactions() - before);
    running.stop().await;
}
