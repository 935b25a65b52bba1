//! Errors of a host, a token or an environment.

use std::time::Instant;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use pushplan_testing::hosts::{KINDS, Kind, TOKEN, Trouble};
use pushplan_testing::{Service, says};
use serde_json::json;

use crate::team::{Env, Team, outside};

/// A team whose plan has a change.
fn team(kind: Kind) -> (Team, Service) {
    let (team, service) = Team::new(kind);
    team.project.edit("Hello", "Good evening");
    let ran = team.run(&["plan", "--out", "plan.json"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    (team, service)
}

#[test]
fn a_short_limit_is_waited_for_and_a_long_one_is_told() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let limit = |seconds: &str| {
            Trouble::Answer(429, vec![("retry-after", seconds.to_owned())], json!({"message": "Too many requests"}))
        };
        team.host.trouble("POST", "/", limit("1"));
        let began = Instant::now();
        let ran = team.comment_on(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["limits the rate of requests. Waiting 1 s."]);
        assert!(began.elapsed().as_secs_f64() >= 1.0);
        team.host.only(7);
        team.host.trouble("GET", "/7/", limit("900"));
        let ran = team.comment_on(7, &[]);
        assert_eq!(ran.code, 1, "{ran}");
        says(
            &ran.stderr,
            &[
                "limits the rate of requests and accepts none with this token for 900 s",
                "Too many requests",
                "--wait 900s",
            ],
        );
        // There is no wait at all.
        team.host.trouble("GET", "/7/", limit("1"));
        assert_eq!(team.comment_on(7, &["--wait", "0s"]).code, 1);
    }
}

#[test]
fn a_limit_may_look_like_a_refusal() {
    let (team, _service) = team(Kind::GitHub);
    let reset = (Timestamp::now().as_second() + 1).to_string();
    let headers = vec![("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", reset)];
    team.host.trouble("GET", "/user", Trouble::Answer(403, headers, json!({"message": "API rate limit exceeded"})));
    let ran = team.comment_on(7, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["GitHub limits the rate of requests"]);
    assert_eq!(team.host.comments(7)[0].author, "plan-bot", "a limit does not make it somebody else");
}

#[test]
fn a_token_without_rights_hides_no_plan() {
    for (kind, rights) in [(Kind::GitHub, "pull-requests: write"), (Kind::GitLab, "the scope `api`")] {
        let (team, _service) = team(kind);
        team.host.state().writes = false;
        let ran = team.comment_on(7, &[]);
        assert_eq!(ran.code, 4, "{ran}");
        says(&ran.stderr, &["this token may not write comments of the", "HTTP 403", rights]);
        // The plan was made, and this does not change its exit code.
        let ran = team.run(&["plan", "--detailed-exitcode"], &team.on_pull(7));
        assert_eq!(ran.code, 2, "{ran}");
        let ran = team.comment_on(7, &["--warn-only"]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["Warning: the comment was not written: this token may not write", rights]);
    }
}

#[test]
fn a_wrong_token_is_told_and_not_shown() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let mut env = team.on_pull(7);
        env.retain(|(name, _)| !name.ends_with("_TOKEN"));
        let name = if kind == Kind::GitHub { "GITHUB_TOKEN" } else { "GITLAB_TOKEN" };
        let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
        assert_eq!(ran.code, 4, "{ran}");
        says(&ran.stderr, &[&format!("{name} is not set")]);
        env.push((name, "hunter2".to_owned()));
        let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
        assert_eq!(ran.code, 4, "{ran}");
        says(&ran.stderr, &["refuses this token (HTTP 401"]);
        assert!(!ran.to_string().contains("hunter2"), "{ran}");
    }
}

#[test]
fn a_host_that_repeats_the_token_is_told_without_it() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        // A host with an error gets four requests.
        for (status, times) in [(401, 1), (403, 1), (422, 1), (429, 1), (503, 4)] {
            let coded = BASE64_STANDARD.encode(format!("bot:{TOKEN}"));
            let message = format!("Denied for {TOKEN}, {}, {coded}", TOKEN.replace('-', "%2D"));
            let headers = vec![("x-got", TOKEN.to_owned()), ("retry-after", "900".to_owned())];
            let headers = if status == 429 { headers } else { Vec::new() };
            let trouble = Trouble::Answer(status, headers, json!({"message": message}));
            (0..times).for_each(|_| team.host.trouble("GET", "/7/", trouble.clone()));
            let ran = team.comment_on(7, &[]);
            assert_ne!(ran.code, 0, "{ran}");
            says(&ran.stderr, &[&format!("HTTP {status}: Denied for [hidden], [hidden], ")]);
            assert!(!ran.stderr.contains(&coded[8..16]), "{ran}");
        }
        assert_eq!(team.host.own(7), Vec::<String>::new());
    }
}

#[test]
fn other_systems_are_told_what_to_set() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &[]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &["GITHUB_REPOSITORY=owner/name", "CI_PROJECT_ID", "--pull-request NUMBER"]);
        // With these variables it works.
        let (names, noun, sign, commit): (&[&str], &str, &str, &str) = match kind {
            Kind::GitHub => {
                (&["GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_TOKEN"], "pull request", "#", "GITHUB_SHA")
            }
            Kind::GitLab => {
                (&["CI_API_V4_URL", "CI_PROJECT_ID", "GITLAB_TOKEN"], "merge request", "!", "CI_COMMIT_SHA")
            }
        };
        let env: Env = team.on_pull(7).into_iter().filter(|(name, _)| names.contains(name)).collect();
        let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[&format!("this run is for no {noun}"), "--pull-request NUMBER"]);
        let ran = team.run(&["ci", "comment", "--plan", "plan.json", "--pull-request", "7"], &env);
        assert_eq!(ran.code, 0, "{ran}");
        assert!(!team.host.only(7).contains("For commit"));
        // The commit is the one that is checked out, by its id rather than by a name.
        let git = |arguments: &[&str]| {
            let who = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "-c", "commit.gpgsign=false"];
            let ran =
                crate::team::ran(outside("git").args(who).args(arguments).current_dir(team.project.folder.path()));
            assert_eq!(ran.code, 0, "{ran}");
            ran.stdout.trim().to_owned()
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "One"]);
        let digits = git(&["rev-parse", "HEAD"])[..12].to_owned();
        for named in [None, Some("HEAD")] {
            let sha = named.map(|name| (commit, name.to_owned()));
            let env: Env = env.iter().cloned().chain(sha).collect();
            assert_eq!(team.run(&["ci", "comment", "--plan", "plan.json", "--pull-request", "7"], &env).code, 0);
            says(&team.host.only(7), &[&format!("For commit `{digits}`.")]);
        }
        let ran = team.run(&["ci", "comment", "--plan", "plan.json", "--pull-request", "99"], &env);
        assert_eq!(ran.code, 4, "{ran}");
        says(&ran.stderr, &[&format!("{noun} {sign}99 does not exist, or this token has no access to it")]);
    }
}

#[test]
fn an_event_says_which_pull_request_it_is() {
    let (team, _service) = team(Kind::GitHub);
    team.host.open(12);
    let event = json!({"pull_request": {"number": 12, "head": {"sha": "feedbeeffeedbeef"}}});
    let event = team.project.folder.write("event.json", event.to_string());
    let mut env = team.on_pull(7);
    env.push(("GITHUB_EVENT_PATH", event.display().to_string()));
    assert_eq!(team.run(&["ci", "comment", "--plan", "plan.json"], &env).code, 0);
    says(&team.host.only(12), &["For commit `feedbeeffeed`."]);
    assert_eq!(team.host.own(7), Vec::<String>::new());
}

#[test]
fn an_event_that_cannot_be_read_is_told() {
    let (team, _service) = team(Kind::GitHub);
    let broken = team.project.folder.write("event.json", "{\"pull_request\": ");
    let missing = team.project.folder.path().join("nowhere.json");
    for (path, why) in [(broken, "is not JSON"), (missing, "cannot be read (")] {
        let mut env = team.on_pull(7);
        env.push(("GITHUB_EVENT_PATH", path.display().to_string()));
        let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["Warning: the file in GITHUB_EVENT_PATH", why, "GITHUB_REF"]);
        team.host.only(7);
        // An apply says it too, once.
        let ran = team.run(&["apply", "--approved", "--yes"], &env);
        assert_eq!(ran.stderr.matches("GITHUB_EVENT_PATH").count(), 1, "{ran}");
    }
    let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &team.on_pull(7));
    assert!(!ran.stderr.contains("GITHUB_EVENT_PATH"), "{ran}");
}

#[test]
fn an_answer_that_is_lost_writes_nothing_twice() {
    for kind in KINDS {
        for trouble in [Trouble::DoneThenSilence, Trouble::DoneThen(502)] {
            let (team, _service) = team(kind);
            team.host.trouble("POST", "/", trouble.clone());
            let ran = team.comment_on(7, &[]);
            assert_eq!(ran.code, 0, "{ran}");
            says(&ran.stderr, &["Checking whether the comment exists."]);
            team.host.only(7);
            // An edit may be repeated.
            team.project.edit("Good evening", "Good night");
            let edit = if kind == Kind::GitHub { "PATCH" } else { "PUT" };
            team.host.trouble(edit, "/", trouble.clone());
            team.commented(7);
            says(&team.host.only(7), &["Good night"]);
        }
    }
}

#[test]
fn a_host_with_a_problem_is_asked_again_and_then_left() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let trouble = || Trouble::Answer(503, vec![], json!({"message": "Unavailable"}));
        team.host.trouble("GET", "/7/", trouble());
        let ran = team.comment_on(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        team.host.only(7);
        (0..4).for_each(|_| team.host.trouble("GET", "/7/", trouble()));
        let ran = team.comment_on(7, &[]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &["has a problem (HTTP 503: Unavailable)", "run the command again"]);
    }
}

#[test]
fn a_redirect_is_not_followed() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let elsewhere = vec![("location", "http://127.0.0.1:9/".to_owned())];
        team.host.trouble("GET", "/7/", Trouble::Answer(301, elsewhere, json!({"message": "Moved"})));
        let ran = team.comment_on(7, &[]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &["answered with a redirect (HTTP 301: Moved), which is not followed"]);
    }
}

#[test]
fn a_token_goes_over_no_open_line() {
    for (kind, name) in [(Kind::GitHub, "GITHUB_API_URL"), (Kind::GitLab, "CI_API_V4_URL")] {
        let (team, _service) = team(kind);
        let mut env = team.on_pull(7);
        env.push((name, "http://git.example/api".to_owned()));
        let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[name, "is not https"]);
    }
}
