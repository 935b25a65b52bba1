//! Commands that do not notice the CI system in which the tests themselves run.

use std::process::Command;

/// The variables by which a command detects a CI system, and those with the credentials of a target.
const CI: [&str; 30] = [
    "CI",
    "GITHUB_ACTIONS",
    "GITHUB_API_URL",
    "GITHUB_REPOSITORY",
    "GITHUB_TOKEN",
    "GITHUB_REF",
    "GITHUB_SHA",
    "GITHUB_EVENT_PATH",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_OUTPUT",
    "GITHUB_EVENT_NAME",
    "GITHUB_BASE_REF",
    "GITHUB_WORKSPACE",
    "GITLAB_CI",
    "GITLAB_TOKEN",
    "CI_API_V4_URL",
    "CI_PROJECT_ID",
    "CI_PROJECT_DIR",
    "CI_MERGE_REQUEST_IID",
    "CI_COMMIT_SHA",
    "CI_COMMIT_BRANCH",
    "CI_DEFAULT_BRANCH",
    "CI_MERGE_REQUEST_EVENT_TYPE",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "GITHUB_RUN_ID",
    "CI_JOB_URL",
    "PUSHPLAN_ORIGIN",
    "PUSHPLAN_APP_KEY",
    "PUSHPLAN_MASTER_SECRET",
];

/// Removes the CI system of the tests from the environment of a command. The command has what the test sets afterwards.
pub fn outside_ci(command: &mut Command) -> &mut Command {
    CI.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}
