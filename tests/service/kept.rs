//! Visible data is durable, and failed changes leave nothing behind.

use pushplan::service::state::devices::{Device, NO_GROUP};
use pushplan::service::{Level, NotDone, Settings};
use serde_json::{Value, json};

use crate::support::{KEY, PHONE, World, settings, table};

fn kept_in(folder: &tempfile::TempDir) -> Settings {
    Settings { data: Some(folder.path().join("service.db")), ..settings(Level::Extended) }
}

/// The answers of all read-only routes.
async fn everything(world: &World) -> Vec<(String, u16, Value)> {
    let mut seen = Vec::new();
    let ours = ["/local/devices", "/local/sent", "/local/due", "/local/events"].map(str::to_owned);
    let paths = table::rows().into_iter().filter(|row| row.method == "GET").map(|row| row.path);
    for path in paths.chain(ours) {
        let reply = world.call("GET", &path, None).await;
        seen.push((path, reply.status, world.named(&reply.json())));
    }
    seen
}

/// Changes a little of everything, and then fails.
async fn stumble(world: &World) -> Result<(), NotDone> {
    let [segment, pipeline, template] = ["$segment", "$pipeline", "$template"].map(|name| world.with_ids(name));
    let stumbled = world.running.engine.write(|state, now| {
        let app = state.app_mut(KEY).expect("the application");
        let phone = app.devices.by_id(PHONE).expect("a device");
        app.register("new", Device { device_type: "ios".into(), installed: true, ..Device::default() }, now);
        app.change_tags(phone, now, |tags| {
            let _ = tags.entry(NO_GROUP.into()).or_default().insert("news".into());
        });
        app.change_user_tags("user-1", now, |tags| {
            let _ = tags.entry("crm".into()).or_default().insert("vip".into());
        });
        app.opened(phone, now, 5);
        app.uninstall(phone, now);
        app.segments.remove(&mut app.journal, &segment);
        app.pipelines.remove(&mut app.journal, &pipeline);
        app.due.drop_if(&mut app.journal, |_| true);
        app.templates.change(&mut app.journal, &template, |_| panic!("a defect that this test brings along"))
    });
    stumbled.await.map(drop)
}

#[tokio::test]
async fn a_change_that_comes_upon_a_defect_leaves_nothing_behind() {
    let world = World::new(Level::Extended).await;
    let before = everything(&world).await;
    assert_eq!(stumble(&world).await, Err(NotDone::Defect));
    assert_eq!(everything(&world).await, before);

    assert_eq!(world.call("POST", "/api/segments", Some(&table::segment())).await.status, 201);
    assert_eq!(world.call("DELETE", "/api/segments/$segment", None).await.status, 204);
    let push = world.call("POST", "/api/push", Some(&table::push())).await;
    assert_eq!(push.status, 202);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_it_is_on_the_disk_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::bare(kept_in(&folder)).await;
    let stumbled = world.running.engine.write(|state, _| {
        let app = state.app_mut(KEY).expect("the application");
        app.legacy_tags.put(&mut app.journal, "lost", jiff::Timestamp::UNIX_EPOCH);
        panic!("a defect that this test brings along");
    });
    let stumbled: Result<(), NotDone> = stumbled.await;
    assert_eq!(stumbled, Err(NotDone::Defect));
    assert_eq!(world.call("PUT", "/api/tags/later", None).await.status, 201);
    let before = world.call("GET", "/api/tags", None).await.json();
    assert_eq!(before["tags"], json!(["later"]));
    world.stop().await;

    let world = World::again(kept_in(&folder)).await;
    assert_eq!(world.call("GET", "/api/tags", None).await.json(), before);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_kept_though_nobody_waits_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::bare(kept_in(&folder)).await;
    let changed = world.running.engine.change(|state, _| {
        let app = state.app_mut(KEY).expect("the application");
        app.legacy_tags.put(&mut app.journal, "left alone", jiff::Timestamp::UNIX_EPOCH);
    });
    drop(changed);
    assert_eq!(world.call("GET", "/api/tags", None).await.json()["tags"], json!(["left alone"]));
    world.stop().await;
    let world = World::again(kept_in(&folder)).await;
    assert_eq!(world.call("GET", "/api/tags", None).await.json()["tags"], json!(["left alone"]));
    world.stop().await;
}
