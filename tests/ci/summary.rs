//! Plans on the page of a job.

use crate::team::Team;
use pushplan_testing::hosts::Kind;
use pushplan_testing::says;

#[test]
fn a_summary_is_written_behind_what_is_there() {
    let (team, _service) = Team::new(Kind::GitHub);
    team.project.edit("Hello", "Good evening");
    assert_eq!(team.run(&["plan", "--out", "plan.json"], &[]).code, 0);
    let summary = team.project.folder.write("summary.md", "Before\n");
    let env = [("GITHUB_STEP_SUMMARY", summary.display().to_string())];
    let ran = team.run(&["ci", "summary", "--plan", "plan.json"], &env);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{ran}");
    let text = team.project.folder.read("summary.md");
    assert!(text.starts_with("Before\n## Plan for local — 1 to update\n"), "{text}");
    says(&text, &["Good evening"]);
    // Without a summary file, it is printed.
    let ran = team.run(&["ci", "summary", "--plan", "plan.json"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.starts_with("## Plan for local — 1 to update\n"), "{ran}");
    assert_eq!(team.host.state().asked, Vec::<String>::new());
}

#[test]
fn a_summary_has_room_for_more_than_a_comment_and_not_for_everything() {
    let words = "Long words about a sale that nobody will read to its end. ".repeat(8);
    let manifest = |number: usize| {
        let one = |number| format!("  t{number}: {{push: {{notification: {{alert: \"{number} {words}\"}}}}}}\n");
        format!("templates:\n{}", (0..number).map(one).collect::<String>())
    };
    let team = Team::fresh(Kind::GitHub, &manifest(300));
    let shown = |team: &Team| {
        assert_eq!(team.run(&["plan", "--out", "plan.json"], &[]).code, 0);
        let ran = team.run(&["ci", "summary", "--plan", "plan.json"], &[]);
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout
    };
    let text = shown(&team);
    assert!(text.len() > 200_000, "{}", text.len());
    assert_eq!(text.matches("<details><summary>+ templates/").count(), 300);
    team.project.write(&manifest(2_000));
    let text = shown(&team);
    assert!((900_000..=1024 * 1024).contains(&text.len()), "{}", text.len());
    says(&text, &["2000 to create", "on a line each"]);
    // Existing content reduces the room.
    let summary = team.project.folder.write("summary.md", "x".repeat(1024 * 1024 - 100));
    let env = [("GITHUB_STEP_SUMMARY", summary.display().to_string())];
    let ran = team.run(&["ci", "summary", "--plan", "plan.json"], &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["The page of the job has no room for 1 more plan."]);
    assert_eq!(team.project.folder.read("summary.md").len(), 1024 * 1024 - 100);
}
