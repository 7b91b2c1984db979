//! Positions in which secrets are met: files, commands, headers, logs, and what encodes or surrounds them.

/// What may be put in a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Every secret.
    Any,
    /// What has no space, quote or backslash: the position has no quotes around it.
    Word,
    /// What is random: nothing there says that a word would be a secret.
    Random,
    /// What has a form of its own.
    Token,
}

/// How a position writes the characters of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Plain,
    Json,
    JsonTwice,
    Percent,
    Xml,
}

use Encoding::{Json, JsonTwice, Percent, Plain, Xml};
use Takes::{Any, Random, Token, Word};

/// In a template, `{s}` is the secret, `{n}` its name (`db_password`), `{N}` the name in capitals, `{c}` in camel case,
/// `{k}` with hyphens, and `{p}` the secret alone if it has a form of its own, or else `name=secret`.
#[rustfmt::skip]
pub(crate) const POSITIONS: &[(&str, Encoding, Takes)] = &[
    // Text around it, colours, escapes
    ("{p}", Plain, Word),
    ("please use {p} for the deploy", Plain, Word),
    ("it is ({p}), renewed", Plain, Token),
    ("\x1b[31m{p}\x1b[0m", Plain, Word),
    ("\x1b[1;38;5;196m{n}\x1b[0m=\x1b[32m{s}\x1b[m", Plain, Word),
    ("\\x1b[31m{p}\\x1b[0m", Plain, Word),
    ("{\"out\":\"\\u001b[32m{p}\\u001b[39m\"}", Json, Word),
    ("echo -e '\\033[0;32m{p}\\033[0m'", Plain, Word),
    ("GET /cb?next=%2Fa%3F{n}%3D{s}%26b%3D1 HTTP/1.1", Percent, Any),
    ("GET /search?q=deploy%20{p}%20now", Percent, Word),
    ("GET /?filter=%7B%22{n}%22%3A%22{s}%22%7D", Percent, Any),
    ("{\"url\":\"https://h/?a=1\\u0026{n}\\u003d{s}\\u0026b=2\"}", Json, Word),
    ("{\"text\":\"\\u003c{n}\\u003e{s}\\u003c/{n}\\u003e\"}", Json, Any),
    ("{\"stdout\":\"first\\n{p}\\nlast\"}", Json, Word),
    ("{\"stdout\":\"a\\t{p}\\tb\"}", Json, Word),
    ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ {p} R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", Plain, Token),
    // JSON
    ("{\"host\": \"db\", \"{n}\": \"{s}\", \"port\": 5432}", Json, Any),
    ("{\"{c}\":\"{s}\",\"port\":5432}", Json, Any),
    ("{\n  \"{n}\":\n    \"{s}\"\n}", Json, Any),
    ("{\"body\":\"{\\\"{n}\\\":\\\"{s}\\\",\\\"a\\\":1}\"}", JsonTwice, Any),
    ("[\"run\", \"--{k}\", \"{s}\", \"-v\"]", Json, Any),
    ("{\"{s}\": {\"uses\": 3}}", Json, Token),
    ("{\"{n}\": {\"value\": \"{s}\"}}", Json, Any),
    ("{\"{n}\": {\n    \"sensitive\": true,\n    \"type\": \"string\",\n    \"value\": \"{s}\"\n  }}", Json, Any),
    ("{\"name\": \"{N}\", \"value\": \"{s}\"}", Json, Any),
    // Configuration
    ("database:\n  host: db\n  {n}: {s}\n  port: 5432\n", Plain, Word),
    ("database:\n  {n}: \"{s}\"\n", Json, Any),
    ("database:\n  {c}: '{s}'\n", Plain, Any),
    ("database:\n  {n}:\n    {s}\n  port: 5432\n", Plain, Word),
    ("database:\n  {n}: |\n    {s}\n  port: 5432\n", Plain, Word),
    ("database:\n  {n}: >-\n    {s}\n", Plain, Word),
    ("env:\n  - name: {N}\n    value: {s}\n", Plain, Word),
    ("environment:\n  - {N}={s}\n  - A=1\n", Plain, Word),
    ("[db]\n{n} = \"{s}\"\nport = 5432\n", Json, Any),
    ("[db]\nhost = db\n{n} = {s}\nport = 5432\n", Plain, Word),
    ("db.host=db\ndb.{n}={s}\ndb.port=5432\n", Plain, Word),
    ("PORT=1\n{N}={s}\nDEBUG=0\n", Plain, Word),
    ("{N}=\"{s}\"\n", Plain, Any),
    ("variable \"{n}\" {\n  type    = string\n  default = \"{s}\"\n}\n", Json, Any),
    ("<{n}>{s}</{n}>", Xml, Any),
    ("<db host=\"h\" {c}=\"{s}\"/>", Xml, Any),
    ("<add key=\"{c}\" value=\"{s}\" />", Xml, Any),
    ("<input value=\"{&quot;{n}&quot;:&quot;{s}&quot;}\">", Xml, Any),
    ("machine h login bob password {s}\n", Plain, Word),
    ("machine h\n  login bob\n  password {s}\n", Plain, Word),
    ("Server=db;User Id=sa;Password={s};Encrypt=true", Plain, Word),
    // Shells and programs
    ("export {N}={s}", Plain, Word),
    ("export {N}='{s}'", Plain, Any),
    ("declare -x {N}=\"{s}\"", Plain, Any),
    ("docker run -e {N}={s} app", Plain, Word),
    ("ENV {N} {s}\n", Plain, Word),
    ("$env:{N} = \"{s}\"", Plain, Any),
    ("set {N}={s}\r\nset A=1\r\n", Plain, Word),
    ("deploy --{k} {s} --verbose", Plain, Word),
    ("deploy --{k}={s}", Plain, Word),
    ("kubectl create secret generic x --from-literal={n}={s} -n app", Plain, Word),
    ("curl -u admin:{s} https://h/", Plain, Word),
    ("curl -b 'sid={s}' https://h/", Plain, Random),
    ("curl -H \"X-{k}: {s}\" https://h/", Plain, Word),
    ("curl -d \"{\\\"{n}\\\":\\\"{s}\\\"}\" https://h/", JsonTwice, Any),
    // The web
    ("Authorization: Bearer {s}\r\nAccept: */*", Plain, Random),
    ("X-{k}: {s}\r\nAccept: */*", Plain, Word),
    ("Cookie: theme=dark; sid={s}; lang=en", Plain, Random),
    ("Set-Cookie: sid={s}; HttpOnly", Plain, Random),
    ("https://bob:{s}@example.com/repo.git", Percent, Any),
    ("git clone https://{s}@example.com/repo.git", Percent, Random),
    ("https://example.com/cb?a=1&{n}={s}&b=2", Percent, Any),
    ("https://example.com/cb#{n}={s}", Percent, Any),
    // Programs' texts
    ("{n} = \"{s}\"", Json, Any),
    ("client = Client(host, {n}='{s}', timeout=3)", Plain, Any),
    ("config = {'{n}': '{s}', 'port': 1}", Plain, Any),
    ("const {c} = '{s}';", Plain, Any),
    ("let {n} = String::from(\"{s}\");", Json, Any),
    ("const {N}: &str = \"{s}\";", Json, Any),
    ("private static final String {N} = \"{s}\";", Json, Any),
    ("'{n}' => '{s}',", Plain, Any),
    ("os.environ[\"{N}\"] = \"{s}\"", Json, Any),
    ("define('{N}', '{s}');", Plain, Any),
    // Logs, listings, documents
    ("2026-01-02T03:04:05Z INFO start {n}={s} user=bob", Plain, Word),
    ("level=info {n}=\"{s}\" user=bob", Json, Any),
    ("12:00 config loaded: {n}: {s}, port: 1", Plain, Word),
    ("+{N}={s}\n-{N}=old\n", Plain, Word),
    ("\x1b[32m+  {n}: {s}\x1b[m\n", Plain, Word),
    ("deploy/.env:12:{N}={s}\n", Plain, Word),
    ("    12\t{N}={s}\n    13\tA=1\n", Plain, Word),
    ("Set `{p}` first.", Plain, Word),
    ("```sh\n{N}={s}\r\n```\r\n", Plain, Word),
    ("| {n} | `{s}` |", Plain, Random),
    ("# {n}: {s}\n", Plain, Word),
];
