//! Secrets by where they are written: on the line below their name, in a column, as the second of a pair, in an address; and
//! tokens whose own words say that they are not real. Each table is a class of such places.

use tamis_redact::Redactor;

/// Only letters and digits, known by its name alone.
const TOKEN: &str = "QdvpSfF5PH5nLZjMeI8cFSmj83";

/// `§` is where the secret is.
fn check(templates: &[&str], secret: &str) {
    let mut failures = Vec::new();
    for template in templates {
        let redacted = Redactor::standard().redact(&template.replace('§', secret)).into_owned();
        let (before, after) = template.split_once('§').unwrap_or_default();
        let hidden = redacted.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let is_hidden = hidden.is_some_and(|mark| {
            mark.strip_prefix("[redacted:").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
        });
        if !is_hidden {
            failures.push(format!("{template:?}\n   got {redacted:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check_shown(texts: &[&str]) {
    for text in texts {
        assert_eq!(Redactor::standard().redact(text), *text);
    }
}

#[test]
fn a_value_may_be_on_the_line_below_its_name() {
    check(
        &[
            "export const apiKey =\n  \"§\"; // used\n",
            "export const apiKey: string =\n  '§';\n",
            "pub const API_TOKEN: &str =\n    \"§\"; // used\n",
            "pub const API_TOKEN: &str =\r\n    \"§\";\r\n",
            "    private static final String API_SECRET =\n        \"§\";\n",
            "def f():\n    api_key = (\n        \"§\"  # used\n    )\n    return api_key\n",
            "api_key = \\\n    \"§\"\n",
            "apiKey :=\n\t\"§\"\n",
            "client = Client(\n    api_key=\n        \"§\",\n)\n",
            "client.setApiKey(\n    \"§\",\n);\n",
            "let token = String::from(\n    \"§\",\n);\n",
            "const config = {\n  apiKey:\n    \"§\",\n};\n",
            "ENV[\"API_TOKEN\"] ||=\n  \"§\"\n",
            "token = '''\n§'''\n",
        ],
        TOKEN,
    );
    check(
        &["    static final String PASSWORD =\n        \"§\";\n", "password = (\n    '§'\n)\n"],
        "hunter2-please",
    );
}

#[test]
fn a_value_may_be_joined_to_its_name_in_many_ways() {
    check(
        &[
            "ENV[\"API_TOKEN\"] ||= \"§\" # used\n",
            "process.env.API_TOKEN ??= \"§\";\n",
            "API_TOKEN ||= '§'\n",
            "secret = '''§''' # used\n",
            "secret = \"\"\"§\"\"\"\n",
            "<add key=\"ApiKey\" value=\"§\"/> <!-- used -->\n",
            "<add value=\"x\" /><add key='ApiKey' value='§'/>\n",
            "<entry key=\"api_token\">§</entry>\n",
            "<property name=\"apiToken\" value=\"§\"/>\n",
            "<string name=\"api_key\">§</string>\n",
        ],
        TOKEN,
    );
}

#[test]
fn labels_are_not_values() {
    check_shown(&[
        "<label for=\"id_password1\">Password1:</label>",
        "<option key='token'>Identifier2</option>",
    ]);
}

#[test]
fn the_second_of_a_pair_is_a_password() {
    for secret in [TOKEN, "hunter2!", "Sup3rS3cret"] {
        check(
            &[
                "requests.get(u, auth=(\"admin\", \"§\"))  # used\n",
                "requests.get(u, auth=('admin','§'))\n",
                "auth = [\"admin\", \"§\"]\n",
                "auth=(\n    \"admin\",\n    \"§\",\n)\n",
                "requests.get(u, auth=HTTPBasicAuth(\"admin\", \"§\"))\n",
                "session.auth = HTTPDigestAuth('admin', '§')\n",
                "credentials = (\"admin\", \"§\")\n",
                "http.basic_auth(\"admin\", \"§\")\n",
            ],
            secret,
        );
    }
    check_shown(&[
        "auth=(user, password)",
        "auth=(\"user\", \"<password>\")",
        "auth = (\"read\", \"write\")",
        "credentials: ['include', 'same-origin']",
        "auth: ['basic', 'oauth1a']",
        "auth = [\"hmac2go\", \"oauth2\"]",
        "credentials = [\"id_rsa\", \"id_ed25519\"]",
        "auth = load[\"id_rsa\", \"id_ed25519\"]",
        "auth=(\"user\", os.environ[\"PASSWORD\"])",
    ]);
}

#[test]
fn a_column_may_be_of_secrets() {
    for secret in [TOKEN, "hunter2!", "Sup3rS3cret"] {
        check(
            &[
                "user,password,role\nbob,§,admin\n",
                "user,password,role\nann,,admin\nbob,\"§\",admin\n",
                "user;password\nbob;§\n",
                "user\tpassword\nbob\t§\n",
                "\"user\",\"password\"\r\n\"bob\",\"§\"\r\n",
                "name,note,password\nbob,\"a, b\",§\n",
                "| user | password |\n| --- | --- |\n| bob | § |\n",
                "| user | Password |\n|:--|--:|\n| bob | `§` |\n",
                " user | password \n------+----------\n bob  | §\n",
                "| Password | § |\n",
            ],
            secret,
        );
    }
    check(
        &[
            "| API key | § |\n",
            "| `api_key` | § | used |\n",
            "| **API key** | `§` |\n",
            "user,api_key\nbob,§\n",
        ],
        TOKEN,
    );
    check_shown(&[
        "user,password,role\nbob,,admin\nann,changeme,admin\n",
        "| name | password |\n| --- | --- |\n| length | at least 8 characters |\n",
        "| parameter | type |\n| --- | --- |\n| password | string |\n| token | CancellationToken2 |\n",
        "def f(user, password, role):\n    return g(user, password1, role)\n",
        "from a import user, password\nfrom b import role, identifier2\n",
        "f(user, password,\n  role2, other2)\n",
        "commit,token,count\n9f86d081884c7d65,let,12\n",
    ]);
}

#[test]
fn every_row_of_a_column_goes() {
    let rows: String = (0..2000).map(|row| format!("user{row},hunter{row}!\n")).collect();
    let redacted = Redactor::standard().redact(&format!("user,password\n{rows}")).into_owned();
    assert!(!redacted.contains("hunter"), "{}", &redacted[..200]);
    assert_eq!(redacted.lines().count(), 2001);
}

#[test]
fn a_row_that_does_not_fit_is_skipped() {
    for table in [
        "user,password,role\nbob,§,admin\nann\nann,§,admin\n",
        "user,password,role\nbob,hun\"ter2!,admin\nann,§,admin\n",
        "user,password,role\nbob,\"x,admin\nann,§,admin\n",
        "user,password,role\n\"says \"\"a, b\"\"\",§,admin\nann,§,admin\n",
        "user,password,role\nbob,\"two\nlines\",admin\nann,§,admin\n",
    ] {
        let long = table.replacen('\n', &format!("\n{}\n", "x".repeat(9000)), 1);
        for text in [table, &long] {
            let redacted = Redactor::standard().redact(&text.replace('§', "hunter3!")).into_owned();
            let expected =
                text.replace('§', "[redacted:password]").replace("hun\"ter2!", "[redacted:password]");
            assert!(redacted == expected, "{table}\n{}", &redacted[redacted.len().saturating_sub(200)..]);
        }
    }
    let odd = Redactor::standard().redact("user,password\nbob,hun\"ter2!\n").into_owned();
    assert_eq!(odd, "user,password\nbob,[redacted:password]\n");
    let apart = format!("user,password\n{}bob,hunter2!\n", "prose\n".repeat(16));
    check_shown(&[
        &apart,
        "user,password\nbob,\n\nann,hunter2!\n",
        "  username, password\n):\n  f(a, password1)\n",
        "\"user\", \"password\"\n\"id\":5,\"a\":\"hunter2!\"\n",
    ]);
}

#[test]
fn names_of_columns_may_be_missing_foreign_and_many() {
    let many = |name: &str| format!("{}{name}\n{}§\n", "column,".repeat(200), "1,".repeat(200));
    check(
        &[
            ",user,password\n0,bob,§\n",
            "prénom,password\nbob,§\n",
            "\u{feff}password,user\n§,bob\n",
            "名前;password\nbob;§\n",
            "e\u{301}tat,password\nbob,§\n",
            &many("password"),
        ],
        "hunter2!",
    );
}

#[test]
fn credentials_in_addresses_go_whatever_their_words() {
    for secret in ["bar", "changeme", "example", "password", "your-password", "PASSWORD", "test", "x1", "a"] {
        check(
            &[
                "url = \"https://foo:§@example.com/x\"",
                "https://user:§@h/",
                "mongodb+srv://root:§@cluster0.example.net/db",
                "mongodb+srv://root:§@…",
                "postgres://postgres:§@localhost:5432/app",
                "git clone https://oauth2:§@bücher.example/r.git",
            ],
            secret,
        );
    }
    check_shown(&[
        "https://user:${PASSWORD}@h/",
        "https://$USER:$PASSWORD@h/",
        "https://user:{password}@h/",
        "https://user:<password>@h/",
        "https://user:%s@h/",
        "https://user:****@h/",
        "https://host:8080/a@b",
    ]);
}

#[test]
fn a_token_may_say_that_it_is_not_real() {
    for secret in [
        concat!("gh", "p_FAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE"),
        concat!("gh", "p_1234567890abcdefghijklmnopqrstuvwxyz"),
        concat!("gh", "p_exampleexampleexampleexampleexample1"),
        concat!("sk", "-test-1234567890abcdef"),
        concat!("sk", "-fake1234567890abcdef1234567890"),
        concat!("sk", "_live_fake1234567890abcdef"),
        concat!("sk", "_test_exampleexample12"),
    ] {
        check(&["see § for it", "x = \"§\"", "API_KEY = \"§\"", "Authorization: Bearer §\n"], secret);
    }
    for secret in [
        "FAKE_TOKEN_1234567890abcdef1234567890",
        "fake-token-1234567890",
        "my-fake-token-1234567890",
        "test_token_0123456789",
        "example-0123456789abcdef",
        "dummy-secret-1234567890",
    ] {
        check(
            &[
                "TOKEN = \"§\"",
                "{\"apiKey\": \"§\"}",
                "API_KEY=§\n",
                "secret: '§'\n",
                "h = \"Authorization: Bearer §\"",
                "use Bearer § now",
            ],
            secret,
        );
    }
    check_shown(&[
        "API_KEY=your-api-key",
        "API_KEY=your-api-key-1234567890",
        "token: changeme",
        "token: <token>",
        "TOKEN = \"replace-with-your-token-2024\"",
        "API_KEY = \"fake-key\"",
        "token = \"example\"",
        "Authorization: Bearer fake-token",
        "Authorization: Bearer your-token-0123456789",
        "TOKEN = \"oauth2-access-token\"",
        "token = \"oauth2_access_token_v2\"",
        "token: CancellationTokenSource2024",
        "token = identifier_of_row_1234",
    ]);
}

#[test]
fn names_of_things_with_a_year_or_a_number_are_shown() {
    check_shown(&[
        "REPORT_KEY = \"sales-report-2024-q4\"",
        "const STORAGE_KEY = \"myapp-settings-v20240115\";",
        "STORAGE_KEY = \"myapp-settings-2024-01-15\"",
        "sessionKey: \"checkout-draft-2024\"",
        "{\"token\": \"function_declaration_0012\"}",
        "it is given as Bearer my-service-account-2024 to all\n",
        "Authorization: my-service-account-2024\n",
    ]);
    for secret in ["my-service-fake-2024", "myapp-20240115-20991399", "service-account-12345678"] {
        check(
            &["STORAGE_KEY = \"§\"", "{\"token\": \"§\"}", "use Bearer § now", "Authorization: Bearer §\n"],
            secret,
        );
    }
    check(&["Authorization: Bearer §\n"], "my-service-account-2024");
}
