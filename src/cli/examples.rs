//! Two examples for the help of each command, which run in the sample project.

use clap::Command;

const EXAMPLES: [(&str, [&str; 2]); 42] = [
    ("adopt", ["adopt segments/lapsed-buyers", "adopt --all-matching"]),
    ("api", ["api GET /api/segments", "api GET /api/schedules --paginate"]),
    ("apply", ["apply --target production", "apply --yes --only 'segments/*'"]),
    ("calendar", ["calendar --days 30", "calendar --format ics --out messages.ics"]),
    ("ci", ["ci init github", "ci init gitlab --branch main"]),
    ("completions", ["completions bash", "completions fish"]),
    ("destroy", ["destroy --dry-run", "destroy --confirm local"]),
    ("diff", ["diff HEAD~1..HEAD", "diff main..HEAD --format markdown"]),
    ("docs", ["docs", "docs --out book"]),
    ("doctor", ["doctor", "doctor --target local --format json"]),
    ("drift", ["drift", "drift --target production --detailed-exitcode"]),
    ("explain", ["explain segments", "explain MS107"]),
    ("fmt", ["fmt --check messages", "fmt - < messages/audience.yaml"]),
    ("forget", ["forget tags/remind-me", "forget scheduled_pushes/winback-call --even-if-pending"]),
    ("graph", ["graph", "graph --format mermaid"]),
    ("help", ["help plan", "help exit-codes"]),
    ("history", ["history", "history 1"]),
    ("init", ["init shop", "init shop --bare"]),
    ("ledger", ["ledger status --target production", "ledger verify"]),
    ("list", ["list", "list segments --format json"]),
    ("locales", ["locales", "locales --format json"]),
    ("lookup", ["lookup segment lapsed-buyers", "lookup named-user qa-team"]),
    ("man", ["man", "man --out man1"]),
    ("mv", ["mv segments/lapsed-buyers segments/lapsed", "mv segments/lapsed-buyers segments/lapsed --in-git"]),
    ("outcome", ["outcome", "outcome scheduled_pushes/winback-call --format json"]),
    ("plan", ["plan --target production", "plan --format markdown --out plan.md"]),
    ("preview", ["preview templates/winback", "preview experiments/sale-text --device iphone"]),
    ("promote", ["promote --from local --to production", "promote --from local --to production --yes"]),
    ("pull", ["pull", "pull segments/lapsed-buyers"]),
    ("reach", ["reach --target production", "reach --format json"]),
    ("reconcile", ["reconcile --once", "reconcile --once --drift fix"]),
    ("report", ["report sends", "report devices --format json"]),
    (
        "resolve",
        ["resolve scheduled_pushes/winback-call --absent", "resolve segments/lapsed-buyers --created 4f2a71c0"],
    ),
    ("revert", ["revert 2", "revert 2 --yes"]),
    ("schema", ["schema", "schema --out schemas"]),
    (
        "send",
        [
            "send templates/winback --to named_user:qa-team",
            "send experiments/sale-text --variant 1 --to named_user:qa-team --yes",
        ],
    ),
    ("serve", ["serve", "serve --devices 1000 --api documented"]),
    ("show", ["show segments/lapsed-buyers", "show templates/winback --target production"]),
    ("test", ["test", "test tests/sale.test.yaml"]),
    ("unlock", ["unlock --lease 4f2a71c0", "unlock --lease 4f2a71c0 --target production --yes"]),
    ("unmanaged", ["unmanaged", "unmanaged segments"]),
    (
        "validate",
        ["validate --fail-on warning", "validate - --stdin-path messages/audience.yaml < messages/audience.yaml"],
    ),
];

/// Adds the examples to the help of each command.
pub fn added(line: Command) -> Command {
    EXAMPLES.into_iter().fold(line, |line, (name, examples)| {
        let examples = examples.map(|example| format!("  pushplan {example}"));
        line.mut_subcommand(name, |command| command.after_help(format!("Examples:\n{}", examples.join("\n"))))
    })
}
