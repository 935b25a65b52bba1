//! The output of `ci init` for targets in several environments.

use pushplan_testing::{Folder, says};
use serde_json::{Value, json};

use crate::yaml::document;

#[test]
fn environments_have_jobs_of_their_own_in_the_order_of_a_change() {
    let folder = Folder::new();
    folder.write(".git/HEAD", "ref: refs/heads/main\n");
    let target = |name: &str| format!("[targets.{name}]\nbase_url = \"https://{name}.example\"\nledger = \"git\"\n");
    let names = ["shop-dev", "shop-live", "cafe-live", "shop-stage"];
    let groups = "[groups.production]\ntargets = [\"*-live\"]\n[groups.staging]\ntargets = [\"*-stage\"]\n[groups.dev]\ntargets = [\"*-dev\"]\n";
    folder.write("pushplan.toml", format!("{}{groups}", names.map(target).concat()));
    let ran = folder.run(&["ci", "init", "github"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(
        &ran.stdout,
        &["Create the environments dev, staging and production, and dev-plan, staging-plan and production-plan"],
    );
    says(
        &ran.stdout,
        &["PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET", "for several targets the secret PUSHPLAN_CREDENTIALS_TOML"],
    );
    let workflow = document(&folder.read(".github/workflows/pushplan.yml"));
    let jobs = workflow["jobs"].clone();
    let of = |name: &str| &jobs[name];
    let mut before: Option<&str> = None;
    for (name, plural) in [("dev", false), ("staging", false), ("production", true)] {
        let (plan, apply) = (of(&format!("plan-{name}")), of(&format!("apply-{name}")));
        assert_eq!((&plan["environment"], &apply["environment"]), (&json!(format!("{name}-plan")), &json!(name)));
        assert_eq!(apply["needs"], json!(before.map(|before| format!("apply-{before}"))), "{name}");
        for job in [plan, apply] {
            let step = &job["steps"][1];
            assert_eq!(step["with"]["target"], name, "{job}");
            let env = step["env"].as_object().expect("a map");
            assert_eq!(env.contains_key("PUSHPLAN_CREDENTIALS_TOML"), plural, "{job}");
            assert_eq!(env.contains_key("PUSHPLAN_ORIGIN"), !plural, "{job}");
        }
        before = Some(name);
    }
    assert_eq!(jobs.as_object().expect("a map").len(), 7);
    // Jobs with credentials write nothing to the pull request, and the job that does has none.
    let comment = of("comment");
    assert_eq!(comment["needs"], json!(["plan-dev", "plan-staging", "plan-production"]));
    assert_eq!(comment["if"], "github.event_name == 'pull_request' && !cancelled()");
    assert_eq!((comment.get("environment"), comment["steps"][1].get("env")), (None, None));
    let with = json!({"command": "comment", "target": "dev,staging,production", "project": "."});
    assert_eq!(comment["steps"][1]["with"], with);
    assert_eq!(comment["permissions"], json!({"contents": "read", "pull-requests": "write"}));
    assert_eq!(workflow["permissions"], json!({}));
    for name in ["dev", "staging", "production"] {
        let plan = of(&format!("plan-{name}"));
        assert_eq!(
            (&plan["permissions"], &plan["steps"][1]["with"]["comment"]),
            (&json!({"contents": "read"}), &json!("together"))
        );
    }
    let ran = folder.run(&["ci", "init", "gitlab"]);
    assert_eq!(ran.code, 0, "{ran}");
    let file = document(&folder.read(".gitlab-ci.yml"));
    assert_eq!(file["stages"], json!(["test", "deploy-dev", "deploy-staging", "deploy-production"]));
    let inputs: Vec<(&Value, &Value, &Value)> = file["include"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["inputs"])
        .map(|inputs| (&inputs["suffix"], &inputs["target"], &inputs["apply-stage"]))
        .collect();
    assert_eq!(inputs[0], (&json!("-dev"), &json!("dev"), &json!("deploy-dev")));
    assert_eq!(inputs.len(), 3);
    assert_eq!(file["pushplan-apply-production"]["environment"]["name"], "production");
    let comment = &file["pushplan-comment"];
    assert_eq!(comment["needs"], json!(["pushplan-plan-dev", "pushplan-plan-staging", "pushplan-plan-production"]));
    assert_eq!(comment["extends"], ".pushplan-comment-dev");
    assert_eq!(comment["variables"], json!({"PUSHPLAN_CI_TARGET": "dev,staging,production"}));
    assert_eq!(comment.get("environment"), None);
    assert_eq!(file["include"][0]["inputs"]["comment"], "together");
    assert_eq!(file["pushplan-plan-production"]["environment"], json!({"name": "production-plan", "action": "verify"}));
}

#[test]
fn groups_that_are_no_environments_change_nothing() {
    for (groups, has_jobs) in [
        ("[groups.dev]\ntargets = [\"one\"]\n[groups.all]\ntargets = [\"*\"]\n", false),
        ("[groups.dev]\ntargets = [\"one\"]\n", false),
        ("[groups.dev]\ntargets = [\"one\"]\n[groups.production]\ntargets = [\"two\"]\n", true),
    ] {
        let folder = Folder::new();
        folder.write(".git/HEAD", "ref: refs/heads/main\n");
        let target =
            |name: &str| format!("[targets.{name}]\nbase_url = \"https://{name}.example\"\nledger = \"git\"\n");
        folder.write("pushplan.toml", format!("{}{}{groups}", target("one"), target("two")));
        let ran = folder.run(&["ci", "init", "github"]);
        assert_eq!(ran.code, 0, "{ran}");
        let jobs = document(&folder.read(".github/workflows/pushplan.yml"))["jobs"].clone();
        assert_eq!(jobs["apply-production"].is_object(), has_jobs, "{groups}: {jobs}");
    }
}
