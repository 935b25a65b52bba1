//! Every variable of the environment that is read. A test looks for those that the sources name.

/// Variables that belong together.
#[derive(Debug)]
pub struct Group {
    pub about: &'static str,
    pub variables: &'static [Variable],
}

/// A variable, or all that begin as its name does before a star.
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
            variable("PUSHPLAN_ORIGIN", "the origin that the next two belong to, such as https://messaging.example"),
            variable("PUSHPLAN_APP_KEY", "the key of the application"),
            variable("PUSHPLAN_MASTER_SECRET", "its master secret"),
            variable(
                "PUSHPLAN_CREDENTIALS",
                "a file with credentials, in place of ~/.config/pushplan/credentials.toml",
            ),
            variable("XDG_CONFIG_HOME", "where that file is looked for, in place of ~/.config"),
            variable("HOME", "where ~ is; APPDATA on Windows"),
            variable("APPDATA", "where the file of credentials is on Windows"),
        ],
    },
    Group {
        about: "Time zones",
        variables: &[variable("TZDIR", "where the system keeps its time zones, in place of /usr/share/zoneinfo")],
    },
    Group {
        about: "Reconciling",
        variables: &[variable("PUSHPLAN_WEBHOOK", "the URL that drift is posted to, if --webhook names none")],
    },
    Group {
        about: "Places of ledgers",
        variables: &[
            variable(
                "PUSHPLAN_LEDGER_DIR",
                "folders outside of the project that may hold a ledger, separated as in PATH",
            ),
            variable("PGUSER", "the user, if the place names none"),
            variable("PGPASSWORD", "the password, for the server that PGHOST and PGPORT name and for no other"),
            variable("PGHOST", "the server that PGPASSWORD is for"),
            variable("PGPORT", "its port, if it is not 5432"),
            variable("PGPASSFILE", "a file with passwords, in place of ~/.pgpass"),
            variable(
                "PGSSLMODE",
                "the minimum for the connection; the place may ask for more, and for less than the default only if this is set",
            ),
            variable("PGSSLROOTCERT", "a file with the authority that is trusted, whatever the place names"),
            variable(
                "AWS_*",
                "s3://: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP and others of object stores",
            ),
            variable("GOOGLE_*", "gs://: GOOGLE_APPLICATION_CREDENTIALS names a file"),
            variable("SERVICE_ACCOUNT", "gs://: a file with the key of a service account"),
            variable(
                "AZURE_*",
                "az://: AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_ENDPOINT and others",
            ),
            variable("IDENTITY_ENDPOINT", "az://: where the identity of the machine is asked for"),
        ],
    },
    Group {
        about: "Git",
        variables: &[
            variable("GIT_ALLOW_PROTOCOL", "what git may speak; file, git, http, https and ssh at most"),
            variable("GIT_SSH_COMMAND", "how git starts ssh; so does GIT_SSH. Without them, ssh asks nothing"),
            variable("GIT_SSH", "how git starts ssh"),
        ],
    },
    Group {
        about: "GitHub Actions",
        variables: &[
            variable("GITHUB_ACTIONS", "set in a workflow"),
            variable("GITHUB_TOKEN", "what comments are read and written with"),
            variable("GITHUB_REPOSITORY", "owner/name"),
            variable("GITHUB_API_URL", "address of the API, if it is not https://api.github.com"),
            variable("GITHUB_EVENT_PATH", "a file with what the run is for: the pull request and its commit"),
            variable("GITHUB_REF", "the branch, or the pull request if the event does not name it"),
            variable("GITHUB_SHA", "the commit"),
            variable("GITHUB_BASE_REF", "the branch that --against-git compares with"),
            variable("GITHUB_WORKSPACE", "the folder of the clone"),
            variable("GITHUB_STEP_SUMMARY", "the file of `ci summary`"),
            variable("GITHUB_OUTPUT", "the file of `ci outputs`"),
            variable(
                "PUSHPLAN_CREDENTIALS_TOML",
                "the secret of the workflow that `ci init` writes: a credentials.toml",
            ),
            variable("GITHUB_ACTOR", "the user, for the ledger"),
            variable("GIT_AUTHOR_NAME", "the user, for the ledger; without any of these, `user.name` of git"),
            variable("GITHUB_RUN_ID", "the job, for the ledger"),
            variable("GITHUB_SERVER_URL", "the page of the job, for the ledger"),
        ],
    },
    Group {
        about: "GitLab CI",
        variables: &[
            variable("GITLAB_CI", "set in a job"),
            variable("GITLAB_TOKEN", "what notes are read and written with"),
            variable("CI_API_V4_URL", "where the API is"),
            variable("CI_PROJECT_ID", "the project"),
            variable("CI_MERGE_REQUEST_IID", "the merge request"),
            variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "the branch that --against-git compares with"),
            variable("CI_MERGE_REQUEST_EVENT_TYPE", "whether the commit is one of the merge request"),
            variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "its newest commit, where it is not"),
            variable("CI_COMMIT_BRANCH", "the branch"),
            variable("CI_DEFAULT_BRANCH", "the branch that a run without a branch applies"),
            variable("CI_COMMIT_SHA", "the commit"),
            variable("CI_PROJECT_DIR", "the folder of the clone"),
            variable("CI_JOB_URL", "the page of the job, for the ledger"),
            variable("GITLAB_USER_LOGIN", "the user, for the ledger"),
        ],
    },
    Group {
        about: "Any CI system",
        variables: &[
            variable("CI", "set in a job: a ledger in the checkout is refused there"),
            variable("TF_BUILD", "like CI"),
            variable("JENKINS_URL", "like CI"),
            variable("TEAMCITY_VERSION", "like CI"),
            variable("CODEBUILD_BUILD_ID", "like CI"),
            variable("BUILDKITE", "like CI"),
            variable("BITBUCKET_BUILD_NUMBER", "like CI"),
            variable("PUSHPLAN_PERSISTENT_CHECKOUT", "1: the checkout is kept between jobs, and so is a ledger in it"),
            variable("PUSHPLAN_CI_AUTHOR", "author of the comments, if the host does not name one"),
        ],
    },
    Group {
        about: "The user and the machine, for the ledger",
        variables: &[
            variable("USER", "the user; else LOGNAME. Also the user of a database"),
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
                "a proxy; also HTTP_PROXY and ALL_PROXY, and in small letters. None for this machine itself",
            ),
            variable("NO_PROXY", "hosts that are reached without it"),
            variable("SSL_CERT_FILE", "a file with the authorities that are trusted; SSL_CERT_DIR a folder"),
        ],
    },
    Group {
        about: "The terminal",
        variables: &[
            variable("NO_COLOR", "no colour, where --color does not say otherwise; also CLICOLOR=0 and TERM=dumb"),
            variable("CLICOLOR_FORCE", "colour, also if the output is not a terminal"),
            variable("COLUMNS", "how wide lines are"),
            variable(
                "LC_ALL",
                "C, POSIX or a set other than UTF-8: signs beyond ASCII have stand-ins. Else LC_CTYPE, else LANG",
            ),
            variable("LC_CTYPE", "the same, if LC_ALL is not set"),
            variable("LANG", "the same, where neither is set"),
            variable("TZDIR", "a folder with the time zone database"),
            variable("PUSHPLAN_COMPLETE", "set by the scripts of `pushplan completions`"),
        ],
    },
];
