use super::*;

/// A home and a project with files of their own, and nothing of this machine.
struct House {
    folder: tempfile::TempDir,
    surroundings: Surroundings,
}

impl House {
    fn new() -> House {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::create_dir_all(folder.path().join("home/.config/tamis")).unwrap();
        let home = folder.path().join("home").into_os_string();
        let surroundings = Surroundings {
            working_dir: project.join("src"),
            variables: BTreeMap::from([
                ("HOME".to_owned(), home.clone()),
                ("XDG_CONFIG_HOME".to_owned(), PathBuf::from(&home).join(".config").into()),
            ]),
            flags: BTreeMap::new(),
        };
        House { folder, surroundings }
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
        self.surroundings.variables.insert(name.to_owned(), value.into());
    }

    fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.surroundings)
    }
}

#[test]
fn a_flag_beats_a_variable_beats_the_user_file_beats_the_default() {
    let mut house = House::new();
    let from = |house: &House| {
        let config = house.load().unwrap();
        (config.number(Key::HttpPort), config.resolved(Key::HttpPort).source.clone())
    };
    assert_eq!(from(&house), (Some(3001), Source::Default));
    let path = house.user_file("[http]\nport = 4001\n");
    assert_eq!(from(&house), (Some(4001), Source::UserFile(path)));
    house.variable("MCP_SERVER_PORT", "4002");
    assert_eq!(from(&house), (Some(4002), Source::Variable("MCP_SERVER_PORT")));
    house.variable("TAMIS_HTTP_PORT", "4003");
    assert_eq!(from(&house), (Some(4003), Source::Variable("TAMIS_HTTP_PORT")));
    house.surroundings.flags.insert(Key::HttpPort, "0".into());
    assert_eq!(from(&house), (Some(0), Source::Flag));
}

#[test]
fn an_empty_variable_is_unset() {
    let mut house = House::new();
    house.variable("MCP_SERVER_PORT", "");
    assert_eq!(house.load().unwrap().resolved(Key::HttpPort).source, Source::Default);
}

#[test]
fn a_project_may_lower_limits_and_nothing_else() {
    let house = House::new();
    let path = house
        .project_file("[prune]\nmax_input_chars = 1000\n[recovery]\nttl_s = 1\n[http]\ntoken = \"mine\"\n");
    let config = house.load().unwrap();
    assert_eq!(
        config.resolved(Key::MaxInputChars),
        &Resolved { value: Some("1000".into()), source: Source::ProjectFile(path.clone()) }
    );
    assert_eq!(config.number(Key::RecoveryTtlSeconds), Some(604_800));
    assert_eq!(config.text(Key::Token), None);
    let path = path.display();
    assert_eq!(
        config.remarks,
        [
            format!("{path}: a project may not set http.token; ignored"),
            format!("{path}: a project may not set recovery.ttl_s; ignored"),
        ]
    );
    house.project_file("[prune]\nmax_input_chars = 3000000\n");
    let config = house.load().unwrap();
    assert_eq!(config.number(Key::MaxInputChars), Some(2_000_000));
    assert_eq!(config.remarks, [format!("{path}: a project may only lower prune.max_input_chars; ignored")]);
}

#[test]
fn a_broken_project_file_is_remarked_on_and_ignored() {
    let house = House::new();
    for (text, remark) in [
        ("[prune]\nmax_input_chars = \"few\"\n", "must be a whole number, 0 or more; ignored"),
        ("[prune]\nmax_input = 1\n", "has the unknown setting prune.max_input; the file is ignored"),
        ("[prune", "; the file is ignored"),
    ] {
        house.project_file(text);
        let config = house.load().unwrap();
        assert_eq!(config.number(Key::MaxInputChars), Some(2_000_000));
        assert!(config.remarks.len() == 1 && config.remarks[0].ends_with(remark), "{:?}", config.remarks);
    }
}

#[test]
fn a_project_file_beyond_the_repository_does_not_count() {
    let house = House::new();
    std::fs::write(house.folder.path().join(".tamis.toml"), "[prune]\nmax_input_chars = 1\n").unwrap();
    assert_eq!(house.load().unwrap().number(Key::MaxInputChars), Some(2_000_000));
}

#[test]
fn what_cannot_be_used_is_refused_with_its_origin() {
    let mut house = House::new();
    house.variable("MCP_PRUNER_MAX_INPUT_CHARS", "many");
    assert_eq!(
        house.load().unwrap_err().to_string(),
        "prune.max_input_chars from MCP_PRUNER_MAX_INPUT_CHARS is \"many\", but must be a whole number, 0 or more"
    );

    let house = House::new();
    let path = house.user_file("[http]\nprot = 1\n");
    assert_eq!(
        house.load().unwrap_err(),
        ConfigError::Unknown { path: path.clone(), name: "http.prot".into() }
    );
    house.user_file("[http\n");
    assert!(matches!(house.load().unwrap_err(), ConfigError::Unreadable { .. }));
}

#[test]
fn the_data_folder_is_the_platforms_unless_set() {
    let mut house = House::new();
    let folder = house.load().unwrap().data_dir();
    assert!(folder.starts_with(house.folder.path().join("home")), "{}", folder.display());
    assert!(folder.ends_with("tamis"));
    house.variable("TAMIS_DATA_DIR", "here");
    assert_eq!(house.load().unwrap().data_dir(), house.surroundings.working_dir.join("here"));
    house.surroundings.variables.clear();
    assert_eq!(house.load().unwrap_err(), ConfigError::Homeless);
}

#[test]
fn a_file_may_list_texts_and_paths_in_it_start_from_it() {
    let house = House::new();
    let path =
        house.user_file("[http]\nallowed_hosts = [\"a.example\", \"b.example\"]\n[data]\ndir = \"kept\"\n");
    let config = house.load().unwrap();
    assert_eq!(config.text(Key::AllowedHosts), Some("a.example,b.example"));
    assert_eq!(config.data_dir(), path.parent().unwrap().join("kept"));
    house.user_file("[http]\nport = true\n");
    assert!(matches!(house.load().unwrap_err(), ConfigError::Unreadable { .. }));
}

#[test]
fn a_named_file_must_exist() {
    let mut house = House::new();
    house.variable("TAMIS_CONFIG", "nowhere.toml");
    let path = house.surroundings.working_dir.join("nowhere.toml");
    assert_eq!(house.load().unwrap_err(), ConfigError::Missing { path });
}

#[test]
fn what_cannot_be_used_is_explained_beside_the_rest() {
    let mut house = House::new();
    house.variable("MCP_SERVER_PORT", "abc");
    house.variable("MCP_PRUNER_PRUNE_ID_TTL_S", "60");
    let (config, errors) = Config::explain(&house.surroundings);
    assert_eq!(errors.len(), 1);
    assert_eq!(config.number(Key::HttpPort), Some(3001));
    assert_eq!(config.number(Key::RecoveryTtlSeconds), Some(60));
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let mut house = House::new();
    house.surroundings.variables.insert("TAMIS_DATA_DIR".into(), OsString::from_vec(b"/d\xff".to_vec()));
    assert!(house.load().unwrap_err().to_string().ends_with("but must be UTF-8"));
}

#[test]
fn a_misspelt_variable_is_remarked_on() {
    let mut house = House::new();
    house.variable("TAMIS_HTTP_PRT", "3");
    house.variable("TAMIS_HTTP_PORT", "3");
    assert_eq!(house.load().unwrap().remarks, ["TAMIS_HTTP_PRT is no setting; ignored"]);
}

#[test]
fn emptiness_means_something_to_a_url_that_may_be_empty() {
    let mut house = House::new();
    house.user_file("[run]\npruner_url = \"http://a/b\"\npruner_enabled = true\n");
    let url = |house: &House| house.load().unwrap().text(Key::RunPrunerUrl).map(str::to_owned);
    assert_eq!(url(&house).as_deref(), Some("http://a/b"));
    house.variable("JEEVES_PRUNER_URL", "");
    assert_eq!(url(&house).as_deref(), Some(""));
    // Whoever uses it judges it: it must not keep tamis from starting.
    house.variable("JEEVES_PRUNER_URL", "nonsense");
    assert_eq!(url(&house).as_deref(), Some("nonsense"));
}

#[test]
fn a_switch_takes_any_text_and_files_may_say_true() {
    let mut house = House::new();
    let switch = |house: &House| house.load().unwrap().text(Key::RunPrunerEnabled).map(str::to_owned);
    assert_eq!(switch(&house).as_deref(), Some("false"));
    house.user_file("[run]\npruner_enabled = true\n");
    assert_eq!(switch(&house).as_deref(), Some("true"));
    house.variable("JEEVES_PRUNER_ENABLED", "perhaps");
    assert_eq!(switch(&house).as_deref(), Some("perhaps"));
    // Nothing is no, too.
    house.variable("JEEVES_PRUNER_ENABLED", "");
    assert_eq!(switch(&house).as_deref(), Some(""));
    // A repository cannot switch it on.
    house.surroundings.variables.remove("JEEVES_PRUNER_ENABLED");
    house.user_file("");
    house.project_file("[run]\npruner_enabled = true\npruner_path = \"/bin/evil\"\n");
    let config = house.load().unwrap();
    assert_eq!((config.text(Key::RunPrunerEnabled), config.text(Key::RunPrunerPath)), (Some("false"), None));
    assert_eq!(config.remarks.len(), 2);
}

#[cfg(unix)]
#[test]
fn a_list_of_paths_comes_from_a_variable_or_a_file_and_never_from_a_project() {
    let mut house = House::new();
    let path = house.user_file("[trace]\nlogs = [\"logs\", \"/var/log/agents\"]\n");
    let beside = path.parent().unwrap().join("logs");
    assert_eq!(
        house.load().unwrap().paths(Key::TraceLogs),
        [beside.clone(), PathBuf::from("/var/log/agents")]
    );
    house.project_file("[trace]\nlogs = \"/etc\"\n");
    let config = house.load().unwrap();
    assert_eq!(config.paths(Key::TraceLogs)[0], beside);
    assert_eq!(config.remarks.len(), 1, "{:?}", config.remarks);
    house.variable("TAMIS_TRACE_LOGS", "/a::b");
    let here = house.surroundings.working_dir.join("b");
    assert_eq!(house.load().unwrap().paths(Key::TraceLogs), [PathBuf::from("/a"), here]);
}

#[cfg(unix)]
#[test]
fn research_looks_into_the_working_folder_unless_told_and_a_project_may_only_narrow_that() {
    let mut house = House::new();
    let here = house.surroundings.working_dir.clone();
    let roots = |house: &House| house.load().unwrap().paths(Key::ResearchRoots);
    assert_eq!(roots(&house), std::slice::from_ref(&here));
    assert_eq!(house.load().unwrap().resolved(Key::ResearchRoots).source, Source::Default);
    std::fs::create_dir_all(here.join("deep")).unwrap();
    let path =
        house.project_file("[research]\nroots = [\"src/deep\"]\ndeny = [\"*.{sql,csv}\", \"private/\"]\n");
    let config = house.load().unwrap();
    assert_eq!(config.paths(Key::ResearchRoots), [here.join("deep").canonicalize().unwrap()]);
    assert_eq!(config.resolved(Key::ResearchRoots).source, Source::ProjectFile(path.clone()));
    assert_eq!(config.texts(Key::ResearchDeny), ["*.{sql,csv}", "private/"]);
    // Neither above what holds, nor through a link, nor to what is not there.
    std::os::unix::fs::symlink(house.folder.path(), here.join("out")).unwrap();
    for wide in ["..", "src/..", "/", "src/out", "src/nowhere", "srcs"] {
        house.project_file(&format!("[research]\nroots = [\"src/deep\", \"{wide}\"]\n"));
        let config = house.load().unwrap();
        assert_eq!(config.paths(Key::ResearchRoots), std::slice::from_ref(&here), "{wide}");
        let remark = format!("{}: a project may only narrow research.roots; ignored", path.display());
        assert_eq!(config.remarks, [remark], "{wide}");
    }
    house.project_file("");
    house.user_file("[research]\nroots = \"/a\"\n");
    assert_eq!(roots(&house), [PathBuf::from("/a")]);
    house.variable("TAMIS_ROOTS", "/b:c");
    assert_eq!(roots(&house), [PathBuf::from("/b"), here.join("c")]);
}

#[test]
fn a_project_may_lower_researchs_limits_and_deny_more_but_names_no_model() {
    let house = House::new();
    house.user_file("[research]\ndeny = [\"ours/\"]\n[limits]\nmaxFilesRead = 20\n");
    house.project_file(
        "[limits]\nmaxFilesRead = 30\nmaxBytesRead = 10\n[research]\ndeny = [\"theirs/\"]\nthoughts = \"t\"\n\
         [model]\nurl = \"http://evil.example/v1\"\n",
    );
    let config = house.load().unwrap();
    assert_eq!((config.number(Key::MaxFilesRead), config.number(Key::MaxBytesRead)), (Some(20), Some(10)));
    assert_eq!(config.texts(Key::ResearchDeny), ["ours/", "theirs/"]);
    assert_eq!(config.text(Key::ModelUrl), Some("http://127.0.0.1:1234/v1"));
    assert_eq!(config.text(Key::ResearchThoughts), None);
    assert_eq!(config.remarks.len(), 3, "{:?}", config.remarks);
}

#[test]
fn what_research_cannot_use_is_refused() {
    for (name, value, complaint) in [
        ("TAMIS_MODEL_URL", "localhost:1234", "must be an address that begins with http:// or https://"),
        ("TAMIS_MODEL_URL", "http://", "must be an address that begins with http:// or https://"),
        ("TAMIS_DEADLINE_MS", "0", "must be a whole number, 1 or more"),
        ("TAMIS_MAX_TOKENS", "-5", "must be a whole number, 1 or more"),
        ("TAMIS_MODEL_USE", "sometimes", "must be one of auto, never, always"),
        ("TAMIS_RESEARCH_INDEX", "yes", "must be one of auto, on, off"),
    ] {
        let mut house = House::new();
        house.variable(name, value);
        let error = house.load().unwrap_err().to_string();
        assert!(error.contains(name) && error.ends_with(complaint), "{error}");
    }
    let mut house = House::new();
    house.variable("TAMIS_MODEL_URL", "https://[::1]:1234/v1");
    assert_eq!(house.load().unwrap().text(Key::ModelUrl), Some("https://[::1]:1234/v1"));
}
