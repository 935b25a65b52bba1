//! Allowed webhooks, and their configuration. Nothing is sent anywhere.

use pushplan::service::webhook::EVENT_TYPES;
use pushplan::service::webhook::is_allowed;
use pushplan_testing::Folder;

#[test]
fn private_and_link_local_addresses_are_refused() {
    let refused = [
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "::",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "fc00::1",
        "fdff::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "64:ff9b::127.0.0.1",
        "2002:a00:1::",
        "2002:c0a8:101::1",
        "2001::1",
    ];
    for address in refused {
        assert!(!is_allowed(address.parse().unwrap()), "{address}");
    }
    let allowed = [
        "127.0.0.1",
        "127.8.9.10",
        "::1",
        "::ffff:127.0.0.1",
        "93.184.216.34",
        "172.15.0.1",
        "172.32.0.1",
        "100.63.0.1",
        "2606:2800:220:1::1",
        "::ffff:93.184.216.34",
        "64:ff9b::93.184.216.34",
    ];
    for address in allowed {
        assert!(is_allowed(address.parse().unwrap()), "{address}");
    }
}

/// Every spelling is refused before anything is sent: the command line ends at once.
#[test]
fn a_webhook_that_may_not_be_is_refused_on_the_command_line() {
    let folder = Folder::new();
    for (url, said) in [
        ("http://169.254.169.254/latest", "169.254.169.254 is not a public address"),
        ("http://10.0.0.1/", "10.0.0.1 is not a public address"),
        ("https://192.168.1.1:8443/", "192.168.1.1 is not a public address"),
        ("http://[fe80::1]/", "fe80::1 is not a public address"),
        ("http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1 is not a public address"),
        ("http://0xa.1/", "10.0.0.1 is not a public address"),
        ("http://167772161/", "10.0.0.1 is not a public address"),
        ("ftp://127.0.0.1/", "an http or https URL, not ftp"),
        ("http://ada:secret@127.0.0.1/", "holds no credentials"),
        ("127.0.0.1:9000", "not a URL"),
    ] {
        let ran = folder.run(&["serve", "--port", "0", "--webhook", url]);
        assert_eq!(ran.code, 64, "{url}: {ran:?}");
        assert!(ran.stderr.contains(said), "{url}: {}", ran.stderr);
    }
    for (header, said) in [
        ("X-Team", "write it as `Name: value`"),
        ("Content-Type: text/plain", "part of every delivery"),
        ("Authorization: Basic x", "a place of its own"),
        ("X Team: crm", "not the name of a header"),
    ] {
        let ran = folder.run(&["serve", "--port", "0", "--webhook", "http://127.0.0.1:9/", "--webhook-header", header]);
        assert_eq!(ran.code, 64, "{header}: {ran:?}");
        assert!(ran.stderr.contains(said), "{header}: {}", ran.stderr);
    }
}

#[test]
fn what_is_wrong_in_the_file_of_webhooks_is_told_with_its_place() {
    let folder = Folder::new();
    for (text, said) in [
        ("[[webhook]]\nurl = \"http://10.0.0.1/\"\n", "service.toml:2:7: 10.0.0.1 is not a public address"),
        ("[[webhook]]\nurll = \"http://127.0.0.1/\"\n", "service.toml:2:1: unknown field `urll`"),
        (
            "[[webhook]]\nurl = \"http://127.0.0.1/\"\ntypes = [\"OPEN\", \"SENT\"]\n",
            "service.toml:3:18: there are no events of the type `SENT`; did you mean SEND?",
        ),
        (
            "[[webhook]]\nurl = \"http://127.0.0.1/\"\ntypes = [\"PURCHASE\"]\n",
            "of the type `PURCHASE`; there are PUSH_BODY, OPEN, SEND, CONTROL, CLOSE",
        ),
        ("[webhooks]\n", "`pushplan explain service.toml` prints a sample"),
        (
            "[[webhook]]\nurl = \"http://127.0.0.1/\"\n[webhook.headers]\nHost = \"x\"\n",
            "service.toml:4:1: the header `Host` is part of every delivery",
        ),
        (
            "[[webhook]]\nurl = \"http://127.0.0.1/\"\napp = \"other\"\n",
            "service.toml:3:7: there is no application `other`",
        ),
        ("[[webhook]]\nurl = \"http://127.0.0.1/\"\nauth = \"ada\"\n", "service.toml:3:8: the credentials"),
        ("[[webhook\n", "service.toml:1:10: "),
    ] {
        folder.write("service.toml", text);
        let ran = folder.run(&["serve", "--port", "0", "--config", "service.toml"]);
        assert_eq!(ran.code, 1, "{text}: {ran:?}");
        assert!(ran.stderr.contains(said), "{text}: {}", ran.stderr);
    }
}

#[test]
fn a_file_of_webhooks_names_connections() {
    let text = "[[webhook]]\nurl = \"http://127.0.0.1/a\"\nauth = \"u:p\"\ntypes = [\"SEND\"]\nheaders = { X-A = \"1\" }\n\
                [[webhook]]\nurl = \"http://127.0.0.1/b\"\napp = \"two\"\nauthorization = \"Bearer x\"\n";
    let source = pushplan::source::Source::new("service.toml", text);
    let webhooks = pushplan::service::webhook::read(&source, &["one", "two"]).unwrap();
    let found: Vec<_> = webhooks.iter().map(|one| (one.app.as_str(), one.url.as_str())).collect();
    assert_eq!(found, [("one", "http://127.0.0.1/a"), ("two", "http://127.0.0.1/a"), ("two", "http://127.0.0.1/b")]);
    assert_eq!(webhooks[0].headers, [("X-A".to_owned(), "1".to_owned())]);
    assert_eq!(webhooks[0].authorization.as_deref(), Some("Basic dTpw"));
    assert_eq!(webhooks[2].authorization.as_deref(), Some("Bearer x"));
    assert!(EVENT_TYPES.iter().all(|kind| webhooks[2].wants(kind)) && !webhooks[0].wants("OPEN"));
}

/// The sample for users is valid, with the default application, and names every type.
#[test]
fn the_sample_of_a_file_of_webhooks_is_right() {
    let folder = Folder::new();
    let sample = folder.run(&["explain", "service.toml"]).stdout;
    let read = |text: &str| {
        let source = pushplan::source::Source::new("service.toml", text);
        pushplan::service::webhook::read(&source, &["local-application-key0"])
    };
    let webhooks = read(&sample).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(webhooks.len(), 2);
    assert!(webhooks[1].wants("SEND") && !webhooks[1].wants("CLOSE"));
    assert!(webhooks[1].authorization.is_some() && webhooks[1].headers.len() == 1);
    for kind in EVENT_TYPES {
        assert!(sample.contains(kind), "{kind}");
    }
    // The commented lines are valid too.
    let other = sample.replace("auth = ", "# ").replace("# authorization = ", "authorization = ");
    assert_eq!(read(&other).unwrap()[1].authorization.as_deref(), Some("Bearer ..."));
    let with_ca = sample.replace("# ca = ", "ca = ");
    assert!(read(&with_ca).unwrap_err().to_string().contains("authority.pem"));
}
