//! Whatever a project says: applied, pulled into an empty folder and applied to another service, both services hold the same.

use proptest::prelude::*;
use pushplan::nouns::level::Level;
use pushplan_testing::{Folder, outside_ci};
use serde_json::{Value, json};

use crate::generated::meaning::{Meant, project};
use crate::generated::sound;
use crate::generated::world::{KEY, SECRET, World, written};

fn settings() -> ProptestConfig {
    let cases = std::env::var("PUSHPLAN_ROUND_TRIPS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(8);
    ProptestConfig { cases, failure_persistence: None, max_shrink_time: 30_000, ..ProptestConfig::default() }
}

fn some() -> impl Strategy<Value = Vec<Meant>> {
    (project(), project(), project()).prop_map(|(one, more, other)| {
        let mut all = [one, more, other].concat();
        sound::unique(&mut all);
        sound::sound(all)
    })
}

/// Everything in the account that the world serves, as manifests.
fn pulled(world: &World) -> String {
    let folder = Folder::new();
    let origin = world.origin();
    folder.write(
        "pushplan.toml",
        format!("[targets.there]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\n"),
    );
    let env = [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", KEY), ("PUSHPLAN_MASTER_SECRET", SECRET)];
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pushplan"));
        let ran = outside_ci(&mut command)
            .args(arguments)
            .current_dir(folder.path())
            .envs(env)
            .output()
            .expect("the binary runs");
        let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{arguments:?}: {said}");
        said
    };
    let said = run(&["pull", "--all"]);
    assert!(!said.contains("Skipped"), "{said}");
    let said = run(&["plan", "--detailed-exitcode"]);
    assert!(said.contains("No changes."), "{said}");
    let mut all = String::new();
    let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
    for name in entries.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        if name.ends_with(".yaml") {
            all.push_str(&folder.read(&name));
        }
    }
    all
}

/// What an account holds, with names in the place of ids and without times.
async fn held(world: &World) -> Value {
    let mut held = json!({});
    let mut names: Vec<(String, String)> = Vec::new();
    let segments = world.get("/api/segments").await;
    for segment in segments["segments"].as_array().expect("segments") {
        let id = segment["id"].as_str().expect("an id").to_owned();
        names.push((id, format!("<{}>", segment["display_name"].as_str().expect("a name"))));
    }
    let mut contents = Vec::new();
    for (id, _) in &names {
        contents.push(world.get(&format!("/api/segments/{id}")).await);
    }
    held["segments"] = contents.into();
    for (path, key) in [
        ("/api/templates", "templates"),
        ("/api/pipelines?enabled=true", "pipelines"),
        ("/api/pipelines?enabled=false", "pipelines"),
        ("/api/schedules", "schedules"),
        ("/api/experiments", "experiments"),
        ("/api/tags/", "tags"),
        ("/api/named_users", "named_users"),
        ("/api/channels", "channels"),
    ] {
        let list = world.get(path).await[key].clone();
        assert!(list.is_array(), "{path}: {list}");
        held[path] = list;
    }
    plain(&mut held, &names);
    held
}

/// Ids and times that each service makes by itself.
const OWN: &[&str] = &[
    "id",
    "template_id",
    "uid",
    "url",
    "creation_time",
    "last_modified_time",
    "created_at",
    "modified_at",
    "last_used",
    "push_ids",
    "push_id",
    "experiment_id",
    "created",
    "last_modified",
    "last_registration",
];

fn plain(value: &mut Value, names: &[(String, String)]) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| !OWN.contains(&key.as_str()) || value.is_object());
            if map.get("device_type").is_some_and(|it| it == "open") {
                map.remove("channel_id");
            }
            map.values_mut().for_each(|value| plain(value, names));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| plain(item, names));
            items.sort_by_key(Value::to_string);
        }
        Value::String(text) => {
            if let Some((_, name)) = names.iter().find(|(id, _)| id == text) {
                text.clone_from(name);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn what_is_pulled_makes_the_same_account_elsewhere(meant in some()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let text = written(&meant);
        runtime.block_on(async {
            let (here, there) = (World::new(Level::Extended).await, World::new(Level::Extended).await);
            here.settle(&text, false).await;
            let pulled = tokio::task::block_in_place(|| pulled(&here));
            there.settle(&pulled, false).await;
            pretty_equal(&held(&here).await, &held(&there).await, &text, &pulled);
        });
    }
}

/// That both are the same, with the first list that is not.
fn pretty_equal(here: &Value, there: &Value, text: &str, pulled: &str) {
    for (path, list) in here.as_object().expect("lists") {
        assert_eq!(*list, there[path], "{path}\n--- declared\n{text}\n--- pulled\n{pulled}");
    }
}
