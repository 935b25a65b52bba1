//! Every environment variable that is read. A test finds those in the sources.

/// A group of variables.
#[derive(Debug)]
pub struct Group {
    pub about: &'static str,
    pub variables: &'static [Variable],
}

/// A variable, or all with a prefix if its name ends with a star.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    pub what: &'static str,
}

const fn variable(name: &'static str, what: &'static str) -> Variable {
    Variable { name, what }
}

pub const GROUPS: &[Group] = &[
    Group {
        about: "Credentials of the service",
        variables: &[
            variable("PUSHPLAN_ORIGIN", "origin of the next two, such as https://messaging.example"),
            variable("PUSHPLAN_APP_KEY", "key of the application"),
            variable("PUSHPLAN_MASTER_SECRET", "master secret of the application"),
            variable("PUSHPLAN_CREDENTIALS", "file with credentials, instead of ~/.config/pushplan/credentials.toml"),
            variable("XDG_CONFIG_HOME", "folder of that file, instead of ~/.config"),
            variable("HOME", "home folder; APPDATA on Windows"),
            variable("APPDATA", "folder of the credentials file on Windows"),
        ],
    },
    Group {
        about: "Time zones",
        variables: &[variable("TZDIR", "folder of the system's time zones, instead of /usr/share/zoneinfo")],
    },
    Group {
        about: "Reconciling",
        variables: &[variable("PUSHPLAN_WEBHOOK", "URL to post drift to, if --webhook is not used")],
    },
    Group {
        about: "Places of ledgers",
        variables: &[
            variable(
                "PUSHPLAN_LEDGER_DIR",
                "folders outside the project that may contain a ledger, separated as in PATH",
            ),
            variable("PGUSER", "user, if `ledger` names none"),
            variable("PGPASSWORD", "password, only for the server in PGHOST and PGPORT"),
            variable("PGHOST", "server of PGPASSWORD"),
            variable("PGPORT", "its port [default: 5432]"),
            variable("PGPASSFILE", "file with passwords, instead of ~/.pgpass"),
            variable(
                "PGSSLMODE",
                "minimum security of the connection. `ledger` can be stricter; it can be weaker than the default only \
                    down to this value",
            ),
            variable("PGSSLROOTCERT", "file with the trusted authority; overrides `ledger`"),
            variable(
                "AWS_*",
                "s3://: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP and others of object stores",
            ),
            variable("GOOGLE_*", "gs://: GOOGLE_APPLICATION_CREDENTIALS is the path of a file"),
            variable("SERVICE_ACCOUNT", "gs://: file with the key of a service account"),
            variable(
                "AZURE_*",
                "az://: AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_ENDPOINT and others",
            ),
            variable("IDENTITY_ENDPOINT", "az://: endpoint of the machine's identity"),
        ],
    },
    Group {
        about: "Git",
        variables: &[
            variable("GIT_ALLOW_PROTOCOL", "protocols that git may use; at most file, git, http, https and ssh"),
            variable(
                "GIT_SSH_COMMAND",
                "command that git uses for ssh (GIT_SSH also works); if neither is set, ssh runs without prompts",
            ),
            variable("GIT_SSH", "command that git uses for ssh"),
        ],
    },
    Group {
        about: "GitHub Actions",
        variables: &[
            variable("GITHUB_ACTIONS", "set in a workflow"),
            variable("GITHUB_TOKEN", "token to read and write comments"),
            variable("GITHUB_REPOSITORY", "owner/name"),
            variable("GITHUB_API_URL", "address of the API [default: https://api.github.com]"),
            variable("GITHUB_EVENT_PATH", "file with the event of the run: the pull request and its commit"),
            variable("GITHUB_REF", "branch, or the pull request if the event has none"),
            variable("GITHUB_SHA", "the commit"),
            variable("GITHUB_BASE_REF", "branch for --against-git"),
            variable("GITHUB_WORKSPACE", "folder of the clone"),
            variable("GITHUB_STEP_SUMMARY", "file of `ci summary`"),
            variable("GITHUB_OUTPUT", "file of `ci outputs`"),
            variable(
                "PUSHPLAN_CREDENTIALS_TOML",
                "contents of a credentials.toml; set it as a secret for the workflow that `ci init` writes",
            ),
            variable("GITHUB_ACTOR", "the user, for the ledger"),
            variable("GIT_AUTHOR_NAME", "user, for the ledger; without any of these, git's `user.name`"),
            variable("GITHUB_RUN_ID", "the job, for the ledger"),
            variable("GITHUB_SERVER_URL", "the page of the job, for the ledger"),
        ],
    },
    Group {
        about: "GitLab CI",
        variables: &[
            variable("GITLAB_CI", "set in a job"),
            variable("GITLAB_TOKEN", "token to read and write notes"),
            variable("CI_API_V4_URL", "address of the API"),
            variable("CI_PROJECT_ID", "the project"),
            variable("CI_MERGE_REQUEST_IID", "the merge request"),
            variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "branch for --against-git"),
            variable("CI_MERGE_REQUEST_EVENT_TYPE", "whether the commit belongs to the merge request"),
            variable(
                "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",
                "newest commit of the merge request, if the commit of the job is not part of it",
            ),
            variable("CI_COMMIT_BRANCH", "the branch"),
            variable("CI_DEFAULT_BRANCH", "the branch that a run without a branch applies"),
            variable("CI_COMMIT_SHA", "the commit"),
            variable("CI_PROJECT_DIR", "folder of the clone"),
            variable("CI_JOB_URL", "the page of the job, for the ledger"),
            variable("GITLAB_USER_LOGIN", "the user, for the ledger"),
        ],
    },
    Group {
        about: "Any CI system",
        variables: &[
            variable("CI", "set by CI systems; pushplan then refuses a ledger in the checkout"),
            variable("TF_BUILD", "like CI"),
            variable("JENKINS_URL", "like CI"),
            variable("TEAMCITY_VERSION", "like CI"),
            variable("CODEBUILD_BUILD_ID", "like CI"),
            variable("BUILDKITE", "like CI"),
            variable("BITBUCKET_BUILD_NUMBER", "like CI"),
            variable("PUSHPLAN_PERSISTENT_CHECKOUT", "1: the checkout and its ledger are kept between jobs"),
            variable("PUSHPLAN_CI_AUTHOR", "author of the comments, if the host does not name one"),
        ],
    },
    Group {
        about: "User and machine, for the ledger",
        variables: &[
            variable(
                "USER",
                "the user, for the ledger and as the default user of a database; if it is not set, LOGNAME",
            ),
            variable("LOGNAME", "the user"),
            variable("USERNAME", "the user of a database on Windows"),
            variable("HOSTNAME", "the machine; else /etc/hostname"),
        ],
    },
    Group {
        about: "The network",
        variables: &[
            variable(
                "HTTPS_PROXY",
                "a proxy; also HTTP_PROXY and ALL_PROXY, and in lowercase; not used for this machine itself",
            ),
            variable("NO_PROXY", "hosts that do not use the proxy"),
            variable("SSL_CERT_FILE", "file with trusted authorities; SSL_CERT_DIR for a folder"),
        ],
    },
    Group {
        about: "The terminal",
        variables: &[
            variable("NO_COLOR", "no colour, unless --color is used; also CLICOLOR=0 and TERM=dumb"),
            variable("CLICOLOR_FORCE", "colour even if the output is not a terminal"),
            variable("COLUMNS", "width of lines"),
            variable(
                "LC_ALL",
                "with C, POSIX or a character set other than UTF-8, the output is ASCII; next are LC_CTYPE and LANG",
            ),
            variable("LC_CTYPE", "used if LC_ALL is not set"),
            variable("LANG", "used if neither is set"),
            variable("PUSHPLAN_COMPLETE", "set by the scripts of `pushplan completions`"),
        ],
    },
];
