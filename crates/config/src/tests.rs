use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use super::*;

/// A home and a project with files of their own, and nothing of this machine.
struct TestHome {
    folder: tempfile::TempDir,
    environment: ConfigEnvironment,
}

impl TestHome {
    fn new() -> TestHome {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::create_dir_all(folder.path().join("home/.config/tamis")).unwrap();
        let home = folder.path().join("home").into_os_string();
        let environment = ConfigEnvironment {
            working_dir: project.join("src"),
            variables: BTreeMap::from([
                ("HOME".to_owned(), home.clone()),
                ("XDG_CONFIG_HOME".to_owned(), PathBuf::from(&home).join(".config").into()),
            ]),
            flags: BTreeMap::new(),
        };
        TestHome { folder, environment }
    }

    fn user_file(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("home/.config/tamis/config.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn project_file(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("project/.tamis.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn variable(&mut self, name: &str, value: &str) {
        self.environment.variables.insert(name.to_owned(), value.into());
    }

    fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.environment)
    }
}

#[test]
fn a_flag_beats_a_variable_beats_the_user_file_beats_the_default() {
    let mut home = TestHome::new();
    let from = |home: &TestHome| {
        let config = home.load().unwrap();
        (config.http.port.value, config.http.port.source)
    };
    assert_eq!(from(&home), (3001, ConfigSource::Default));
    let path = home.user_file("[http]\nport = 4001\n");
    assert_eq!(from(&home), (4001, ConfigSource::UserFile(path)));
    home.variable("MCP_SERVER_PORT", "4002");
    assert_eq!(from(&home), (4002, ConfigSource::Variable("MCP_SERVER_PORT")));
    home.variable("TAMIS_HTTP_PORT", "4003");
    assert_eq!(from(&home), (4003, ConfigSource::Variable("TAMIS_HTTP_PORT")));
    home.environment.flags.insert("http.port", "0".into());
    assert_eq!(from(&home), (0, ConfigSource::Flag));
}

#[test]
fn every_variable_of_the_contracts_sets_its_setting() {
    for (variable, value, setting, shown) in [
        ("MCP_LOG_LEVEL", "debug", "log.filter", "debug"),
        ("MCP_SERVER_PORT", "4002", "http.port", "4002"),
        ("MCP_PRUNER_HOST", "0.0.0.0", "http.pruner_host", "0.0.0.0"),
        ("MCP_PRUNER_PORT", "8006", "http.pruner_port", "8006"),
        ("MCP_PRUNER_MAX_INPUT_CHARS", "5", "prune.max_input_chars", "5"),
        ("MCP_PRUNER_PRUNE_ID_TTL_S", "60", "recovery.ttl_s", "60"),
        ("MCP_PRUNER_CWD", "/work", "workbench.dir", "/work"),
        ("JEEVES_PRUNER_ENABLED", "yes", "run.pruner_enabled", "true"),
        ("JEEVES_PRUNER_URL", "http://a/prune", "run.pruner_url", "http://a/prune"),
        ("JEEVES_MCP_PRUNER_PATH", "/a/pruner", "run.pruner_path", "/a/pruner"),
        ("MCP_DATABASE_PATH", "/a/state.db", "agents.database", "/a/state.db"),
        ("MCP_TOOL_TIMEOUT", "5000", "agents.tool_timeout_ms", "5000"),
        ("GITHUB_TOKEN", "a-token", "github.token", ""),
    ] {
        let mut home = TestHome::new();
        home.variable(variable, value);
        let config = home.load().unwrap();
        let setting = config.settings().iter().find(|one| one.name == setting).expect(setting);
        assert_eq!(setting.source, ConfigSource::Variable(variable), "{variable}");
        let found = setting.value.as_deref().unwrap_or_default();
        assert!(setting.is_secret() || found == shown, "{variable}: {found}");
    }
}

#[test]
fn an_empty_variable_is_unset() {
    let mut home = TestHome::new();
    home.variable("MCP_SERVER_PORT", "");
    assert_eq!(home.load().unwrap().http.port.source, ConfigSource::Default);
}

#[test]
fn a_project_may_lower_limits_and_nothing_else() {
    let home = TestHome::new();
    let path = home
        .project_file("[prune]\nmax_input_chars = 1000\n[recovery]\nttl_s = 1\n[http]\ntoken = \"mine\"\n");
    let config = home.load().unwrap();
    assert_eq!(
        config.sieve.max_input_chars,
        Sourced {
            value: 1000,
            source: ConfigSource::ProjectFile(path.clone()),
            without_project: Some(2_000_000),
        }
    );
    assert_eq!(config.sieve.recovery_ttl.value, Duration::from_secs(604_800));
    assert_eq!(config.http.token.value, None);
    let path = path.display();
    assert_eq!(
        config.warnings,
        [
            format!("{path}: a project may not set http.token; ignored"),
            format!("{path}: a project may not set recovery.ttl_s; ignored"),
        ]
    );
    home.project_file("[prune]\nmax_input_chars = 3000000\n");
    let config = home.load().unwrap();
    assert_eq!(config.sieve.max_input_chars.value, 2_000_000);
    assert_eq!(config.warnings, [format!("{path}: a project may only lower prune.max_input_chars; ignored")]);
}

#[test]
fn a_broken_project_file_is_ignored_with_a_warning() {
    let home = TestHome::new();
    for (text, warning) in [
        ("[prune]\nmax_input_chars = \"few\"\n", "must be a whole number, 0 or more; ignored"),
        ("[prune]\nmax_input = 1\n", "; the file is ignored"),
        ("[prune", "; the file is ignored"),
    ] {
        home.project_file(text);
        let config = home.load().unwrap();
        assert_eq!(config.sieve.max_input_chars.value, 2_000_000);
        assert!(config.warnings.len() == 1 && config.warnings[0].ends_with(warning), "{:?}", config.warnings);
    }
}

#[test]
fn a_project_file_beyond_the_repository_does_not_count() {
    let home = TestHome::new();
    std::fs::write(home.folder.path().join(".tamis.toml"), "[prune]\nmax_input_chars = 1\n").unwrap();
    assert_eq!(home.load().unwrap().sieve.max_input_chars.value, 2_000_000);
}

#[test]
fn what_cannot_be_used_is_refused_with_its_origin() {
    let mut home = TestHome::new();
    home.variable("MCP_PRUNER_MAX_INPUT_CHARS", "many");
    assert_eq!(
        home.load().unwrap_err().to_string(),
        "invalid value `many` for `prune.max_input_chars` from MCP_PRUNER_MAX_INPUT_CHARS: must be a whole number, 0 or more"
    );

    let home = TestHome::new();
    let path = home.user_file("[http]\nprot = 1\n");
    assert_eq!(
        home.load().unwrap_err(),
        ConfigError::Unknown { path: path.clone(), name: "http.prot".into() }
    );
    home.user_file("[http\n");
    assert!(matches!(home.load().unwrap_err(), ConfigError::Unreadable { .. }));
    home.user_file("[http]\ntoken = tr0ub4dor\n");
    let error = home.load().unwrap_err().to_string();
    assert!(error.contains("line 2") && !error.contains("tr0ub4dor"), "{error}");
}

#[test]
fn the_data_folder_is_the_platforms_unless_set() {
    let mut home = TestHome::new();
    let folder = home.load().unwrap().data_dir();
    assert!(folder.starts_with(home.folder.path().join("home")), "{}", folder.display());
    assert!(folder.ends_with("tamis"));
    home.variable("TAMIS_DATA_DIR", "here");
    assert_eq!(home.load().unwrap().data_dir(), home.environment.working_dir.join("here"));
    home.environment.variables.clear();
    assert_eq!(home.load().unwrap_err(), ConfigError::NoHome);
}

#[test]
fn a_file_may_list_texts_and_paths_in_it_start_from_it() {
    let home = TestHome::new();
    let path =
        home.user_file("[http]\nallowed_hosts = [\"a.example\", \"b.example\"]\n[data]\ndir = \"kept\"\n");
    let config = home.load().unwrap();
    assert_eq!(config.http.allowed_hosts.value, ["a.example", "b.example"]);
    assert_eq!(config.data_dir(), path.parent().unwrap().join("kept"));
    home.user_file("[http]\nport = true\n");
    assert!(matches!(home.load().unwrap_err(), ConfigError::Unreadable { .. }));
}

#[test]
fn a_named_file_must_exist() {
    let mut home = TestHome::new();
    home.variable("TAMIS_CONFIG", "nowhere.toml");
    let path = home.environment.working_dir.join("nowhere.toml");
    assert_eq!(home.load().unwrap_err(), ConfigError::Missing { path });
}

#[test]
fn what_cannot_be_used_is_explained_beside_the_rest() {
    let mut home = TestHome::new();
    home.variable("MCP_SERVER_PORT", "abc");
    home.variable("MCP_PRUNER_PRUNE_ID_TTL_S", "60");
    let (config, errors) = Config::explain(&home.environment);
    assert_eq!(errors.len(), 1);
    assert_eq!(config.http.port.value, 3001);
    assert_eq!(config.sieve.recovery_ttl.value, Duration::from_secs(60));
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let mut home = TestHome::new();
    home.environment.variables.insert("TAMIS_DATA_DIR".into(), OsString::from_vec(b"/d\xff".to_vec()));
    assert!(home.load().unwrap_err().to_string().ends_with(": must be UTF-8"));
}

#[test]
fn a_misspelt_variable_is_warned_about() {
    let mut home = TestHome::new();
    home.variable("TAMIS_HTTP_PRT", "3");
    home.variable("TAMIS_HTTP_PORT", "3");
    home.variable("TAMIS_PAGER", "less");
    assert_eq!(home.load().unwrap().warnings, ["`TAMIS_HTTP_PRT` is not a setting; ignored"]);
}

#[test]
fn emptiness_means_something_to_a_url_that_may_be_empty() {
    let mut home = TestHome::new();
    home.user_file("[run]\npruner_url = \"http://a/b\"\npruner_enabled = true\n");
    let url = |home: &TestHome| home.load().unwrap().run.pruner_url.value;
    assert_eq!(url(&home).as_deref(), Some("http://a/b"));
    home.variable("JEEVES_PRUNER_URL", "");
    assert_eq!(url(&home).as_deref(), Some(""));
    // `tamis run` checks it: it must not keep tamis from starting.
    home.variable("JEEVES_PRUNER_URL", "nonsense");
    assert_eq!(url(&home).as_deref(), Some("nonsense"));
}

#[test]
fn a_switch_takes_any_text_and_files_may_say_true() {
    let mut home = TestHome::new();
    let switch = |home: &TestHome| home.load().unwrap().run.pruner_enabled.value;
    assert!(!switch(&home));
    home.user_file("[run]\npruner_enabled = true\n");
    assert!(switch(&home));
    for yes in ["1", "true", "yes", "on", "TRUE", "On", " yes "] {
        home.variable("JEEVES_PRUNER_ENABLED", yes);
        assert!(switch(&home), "{yes:?}");
    }
    // An empty value is off too.
    for no in ["", "0", "false", "no", "off", "2", "enabled", "y", "truee", "perhaps"] {
        home.variable("JEEVES_PRUNER_ENABLED", no);
        let config = home.load().unwrap();
        assert!(!config.run.pruner_enabled.value, "{no:?}");
        assert_eq!(config.run.pruner_enabled.source, ConfigSource::Variable("JEEVES_PRUNER_ENABLED"));
    }
    // A repository cannot switch it on.
    home.environment.variables.remove("JEEVES_PRUNER_ENABLED");
    home.user_file("");
    home.project_file("[run]\npruner_enabled = true\npruner_path = \"/bin/evil\"\n");
    let config = home.load().unwrap();
    assert_eq!((config.run.pruner_enabled.value, config.run.pruner_path.value), (false, None));
    assert_eq!(config.warnings.len(), 2);
}

#[cfg(unix)]
#[test]
fn a_list_of_paths_comes_from_a_variable_or_a_file_and_never_from_a_project() {
    let mut home = TestHome::new();
    let path = home.user_file("[trace]\nlogs = [\"logs\", \"/var/log/agents\"]\n");
    let beside = path.parent().unwrap().join("logs");
    assert_eq!(home.load().unwrap().trace.logs.value, [beside.clone(), PathBuf::from("/var/log/agents")]);
    home.project_file("[trace]\nlogs = \"/etc\"\n");
    let config = home.load().unwrap();
    assert_eq!(config.trace.logs.value[0], beside);
    assert_eq!(config.warnings.len(), 1, "{:?}", config.warnings);
    home.variable("TAMIS_TRACE_LOGS", "/a::b");
    let here = home.environment.working_dir.join("b");
    assert_eq!(home.load().unwrap().trace.logs.value, [PathBuf::from("/a"), here]);
}

#[cfg(unix)]
#[test]
fn research_reads_the_working_folder_by_default_and_a_project_may_only_narrow_that() {
    let mut home = TestHome::new();
    let here = home.environment.working_dir.clone();
    let roots = |home: &TestHome| home.load().unwrap().research.roots.value;
    assert_eq!(roots(&home), std::slice::from_ref(&here));
    assert_eq!(home.load().unwrap().research.roots.source, ConfigSource::Default);
    std::fs::create_dir_all(here.join("deep")).unwrap();
    let path =
        home.project_file("[research]\nroots = [\"src/deep\"]\ndeny = [\"*.{sql,csv}\", \"private/\"]\n");
    let config = home.load().unwrap();
    assert_eq!(config.research.roots.value, [here.join("deep").canonicalize().unwrap()]);
    assert_eq!(config.research.roots.source, ConfigSource::ProjectFile(path.clone()));
    assert_eq!(config.research.deny.value, ["*.{sql,csv}", "private/"]);
    // Neither above what holds, nor through a link, nor to what is not there.
    std::os::unix::fs::symlink(home.folder.path(), here.join("out")).unwrap();
    for wide in ["..", "src/..", "/", "src/out", "src/nowhere", "srcs"] {
        home.project_file(&format!("[research]\nroots = [\"src/deep\", \"{wide}\"]\n"));
        let config = home.load().unwrap();
        assert_eq!(config.research.roots.value, std::slice::from_ref(&here), "{wide}");
        let warning = format!("{}: a project may only narrow research.roots; ignored", path.display());
        assert_eq!(config.warnings, [warning], "{wide}");
    }
    home.project_file("");
    home.user_file("[research]\nroots = \"/a\"\n");
    assert_eq!(roots(&home), [PathBuf::from("/a")]);
    home.variable("TAMIS_ROOTS", "/b:c");
    assert_eq!(roots(&home), [PathBuf::from("/b"), here.join("c")]);
}

#[test]
fn a_project_may_lower_researchs_limits_and_deny_more_but_names_no_model() {
    let home = TestHome::new();
    home.user_file("[research]\ndeny = [\"ours/\"]\n[limits]\nmaxFilesRead = 20\n");
    home.project_file(
        "[limits]\nmaxFilesRead = 30\nmaxBytesRead = 10\n[research]\ndeny = [\"theirs/\"]\nthoughts = \"t\"\n\
         [model]\nurl = \"http://evil.example/v1\"\n",
    );
    let config = home.load().unwrap();
    assert_eq!((config.research.max_files_read.value, config.research.max_bytes_read.value), (20, 10));
    assert_eq!(config.research.deny.value, ["ours/", "theirs/"]);
    assert_eq!(config.research.deny.without_project, Some(vec!["ours/".to_owned()]));
    assert_eq!(config.model.url.value, "http://127.0.0.1:1234/v1");
    assert_eq!(config.research.thoughts.value, None);
    assert_eq!(config.warnings.len(), 3, "{:?}", config.warnings);
}

#[test]
fn a_project_file_that_is_a_link_is_not_read() {
    let home = TestHome::new();
    let secret = home.folder.path().join("credentials");
    std::fs::write(&secret, "[default]\nkey = not-a-value-of-toml-but-a-secret\n").unwrap();
    let path = home.project_file("");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&secret, &path).unwrap();
    let warning = format!("cannot read `{}`: it is a symbolic link; the file is ignored", path.display());
    assert_eq!(home.load().unwrap().warnings, [warning]);
    // One that never ends is not waited for.
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let warning = format!("cannot read `{}`: not a file; the file is ignored", path.display());
    assert_eq!(home.load().unwrap().warnings, [warning]);
}

#[test]
fn what_research_cannot_use_is_refused() {
    for (name, value, reason) in [
        ("TAMIS_MODEL_URL", "localhost:1234", "must be a URL that begins with http:// or https://"),
        ("TAMIS_MODEL_URL", "http://", "must be a URL that begins with http:// or https://"),
        ("TAMIS_DEADLINE_MS", "0", "must be a whole number, 1 or more"),
        ("TAMIS_MAX_TOKENS", "-5", "must be a whole number, 1 or more"),
        ("TAMIS_MODEL_USE", "sometimes", "must be one of auto, never, always"),
        ("TAMIS_RESEARCH_INDEX", "yes", "must be one of auto, on, off"),
    ] {
        let mut home = TestHome::new();
        home.variable(name, value);
        let error = home.load().unwrap_err().to_string();
        assert!(error.contains(name) && error.ends_with(reason), "{error}");
    }
    let mut home = TestHome::new();
    home.variable("TAMIS_MODEL_URL", "https://[::1]:1234/v1");
    assert_eq!(home.load().unwrap().model.url.value, "https://[::1]:1234/v1");
}

#[test]
fn names_and_variables_are_unique_and_defaults_are_valid() {
    let (mut names, mut variables) = (Vec::new(), Vec::new());
    for setting in Setting::all() {
        names.push(setting.name);
        variables.extend(setting.variables);
    }
    for list in [&mut names, &mut variables] {
        let count = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), count);
    }
    let home = TestHome::new();
    for setting in Setting::all().iter().filter(|setting| setting.name != "data.dir") {
        if let Some(default) = &setting.default {
            set_user_setting(&home.environment, setting.name, default).unwrap();
        }
    }
    let shown = |setting: &Setting| (setting.name, setting.value.clone());
    let config = home.load().unwrap();
    for (set, default) in config.settings().iter().map(shown).zip(Setting::all().iter().map(shown)) {
        if !["data.dir", "research.roots"].contains(&set.0) {
            assert_eq!(set, default);
        }
    }
}

#[test]
fn set_keeps_comments_and_order_and_the_rest_of_the_file() {
    let home = TestHome::new();
    let path = home.user_file(
        "# mine\n[prune]\n# long texts\nmax_input_chars = 5 # few\n\n[http]\nport = 4001\nhost = \"::1\"\n",
    );
    let set = |name: &str, value: &str| set_user_setting(&home.environment, name, value).unwrap();
    assert_eq!(set("prune.max_input_chars", "1000"), path.canonicalize().unwrap());
    set("http.allowed_hosts", "a.example, b.example");
    set("run.pruner_enabled", "yes");
    set("github.token", "s3cret");
    set("trace.logs", "logs");
    let logs = home.environment.working_dir.join("logs");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        format!(
            "# mine\n[prune]\n# long texts\nmax_input_chars = 1000 # few\n\n[http]\nport = 4001\nhost = \"::1\"\n\
             allowed_hosts = [\"a.example\", \"b.example\"]\n\n[run]\npruner_enabled = true\n\n\
             [github]\ntoken = \"s3cret\"\n\n[trace]\nlogs = [\"{}\"]\n",
            logs.display()
        )
    );
    let config = home.load().unwrap();
    assert_eq!((config.sieve.max_input_chars.value, config.http.port.value), (1000, 4001));
    assert_eq!(config.trace.logs.value, [logs]);
}

#[test]
fn set_creates_a_private_file_and_refuses_what_cannot_be_used() {
    let home = TestHome::new();
    let file = home.folder.path().join("home/.config/tamis/config.toml");
    let set = |name: &str, value: &str| set_user_setting(&home.environment, name, value);
    assert_eq!(set("http.prot", "1"), Err(ConfigError::UnknownName { name: "http.prot".into() }));
    assert_eq!(
        set("http.port", "many").unwrap_err().to_string(),
        "invalid value `many` for `http.port` from the command line: must be a port, 0 to 65535"
    );
    assert!(!file.exists());
    set("http.port", "4001").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    home.user_file("[http\n");
    assert!(matches!(set("http.port", "1"), Err(ConfigError::Unreadable { .. })));
}

#[test]
fn settings_that_are_set_at_the_same_time_are_all_kept() {
    for _ in 0..10 {
        let home = TestHome::new();
        let names = ["model.locator", "model.analyzer", "model.patterns", "model.thoughts"];
        std::thread::scope(|scope| {
            for name in names {
                scope.spawn(|| set_user_setting(&home.environment, name, "small").unwrap());
            }
        });
        let config = home.load().unwrap();
        for name in names {
            let setting = config.settings().iter().find(|setting| setting.name == name).unwrap();
            assert_eq!(setting.value.as_deref(), Some("small"), "{name}");
        }
    }
}
