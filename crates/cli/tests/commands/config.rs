//! `config`, and how flaws of a configuration are reported.

use serde_json::json;

use super::common::{Fixture, finish};

#[test]
fn a_configuration_that_cannot_be_used_is_shown_with_its_flaw() {
    let fixture = Fixture::new();
    let mut command = fixture.tamis(&["config", "--explain"]);
    command.env("MCP_SERVER_PORT", "abc");
    let ran = finish(&mut command, b"");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("http.port = 3001"), "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "error: invalid value `abc` for `http.port` from MCP_SERVER_PORT: must be a port, 0 to 65535\n"
    );
    for filter in ["inof", "tamis=loud"] {
        let mut command = fixture.tamis(&["data", "show"]);
        command.env("TAMIS_LOG", filter);
        let ran = finish(&mut command, b"");
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("hint: the levels are"), "{}", ran.stderr);
    }
}

#[test]
fn config_explains_where_each_value_comes_from() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join(".tamis.toml"), "[prune]\nmax_input_chars = 10\n[http]\nport = 1\n")
        .unwrap();
    let mut command = fixture.tamis(&["config", "--json"]);
    command.env("MCP_PRUNER_PRUNE_ID_TTL_S", "60").env("TAMIS_TOKEN", "0123456789abcdef");
    let shown = finish(&mut command, b"").json();
    let of = |name: &str| {
        let settings = shown["settings"].as_array().unwrap();
        let setting = settings.iter().find(|setting| setting["name"] == name).unwrap();
        (setting["value"].clone(), setting["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(of("recovery.ttl_s"), (json!("60"), "MCP_PRUNER_PRUNE_ID_TTL_S".to_owned()));
    assert_eq!(of("http.token"), (json!("(set)"), "TAMIS_TOKEN".to_owned()));
    assert_eq!(of("http.port"), (json!("3001"), "default".to_owned()));
    assert_eq!(of("prune.max_input_chars").0, "10");
    assert_eq!(shown["remarks"].as_array().unwrap().len(), 1);
    let mut command = fixture.tamis(&["config", "--explain"]);
    command.env("TAMIS_TOKEN", "0123456789abcdef");
    let explained = finish(&mut command, b"");
    assert!(explained.stdout.contains("http.token = (set)"), "{}", explained.stdout);
    assert!(explained.stdout.contains("set by TAMIS_HTTP_PORT or MCP_SERVER_PORT"), "{}", explained.stdout);
    assert!(!explained.stdout.contains("0123456789abcdef"));
}

#[test]
fn config_sets_gets_and_finds_the_file() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("home/.config/tamis/config.toml");
    let said = fixture.run(&["config", "path"], b"");
    assert_eq!((said.code, said.stdout.trim()), (Some(0), path.to_str().unwrap()));
    assert_eq!(fixture.run(&["config", "set", "http.port", "4001"], b"").code, Some(0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[http]\nport = 4001\n");
    assert_eq!(fixture.run(&["config", "get", "http.port"], b"").stdout, "4001\n");
    assert_eq!(fixture.run(&["config", "set", "github.token", "s3cret"], b"").code, Some(0));
    let secret = fixture.run(&["config", "get", "github.token", "--json"], b"");
    assert_eq!(secret.json()["value"], "(set)");
    assert!(!format!("{}{}", secret.stdout, secret.stderr).contains("s3cret"));
    let overridden =
        finish(fixture.tamis(&["config", "set", "http.port", "4002"]).env("TAMIS_HTTP_PORT", "5"), b"");
    assert!(overridden.stderr.contains("TAMIS_HTTP_PORT overrides it here"), "{}", overridden.stderr);
    let unset = finish(fixture.tamis(&["config", "unset", "http.port"]).env("TAMIS_HTTP_PORT", "5"), b"");
    assert!(unset.stderr.contains("TAMIS_HTTP_PORT still sets it here"), "{}", unset.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[http]\n\n[github]\ntoken = \"s3cret\"\n");
    for (arguments, code, error) in [
        (
            &["config", "unset", "http.port"][..],
            1,
            "error: `http.port` is not set in your configuration file\n\nhint: ",
        ),
        (&["config", "unset", "http.prot"], 2, "error: unknown setting `http.prot`\n\nhint: "),
        (&["config", "get", "http.prot"][..], 2, "error: unknown setting `http.prot`\n\nhint: "),
        (&["config", "get", "http.token"], 1, "error: `http.token` is not set\n\nhint: "),
        (&["config", "set", "http.prot", "1"], 2, "error: unknown setting `http.prot`\n\nhint: "),
        (
            &["config", "set", "http.port", "x"],
            2,
            "error: invalid value `x` for `http.port` from the command line",
        ),
    ] {
        let ran = fixture.run(arguments, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(error), "{}", ran.stderr);
    }
}

#[test]
fn an_invalid_value_in_a_project_is_shown_without_secrets() {
    let fixture = Fixture::new();
    let project = "[limits]\nmaxTokens = \"http://me:tr0ub4dor@host/\"\n";
    std::fs::write(fixture.work().join(".tamis.toml"), project).unwrap();
    for arguments in [&["config"][..], &["config", "--json"], &["data", "show"]] {
        let ran = fixture.run(arguments, b"");
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(shown.contains("for `limits.maxTokens` from") && !shown.contains("tr0ub4dor"), "{shown}");
    }
}
