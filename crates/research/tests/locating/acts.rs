//! Questions for code that does something: the place that does it comes first, not one that has the words in its name.

use tamis_research::Role;

use super::fixture::{BOTH, check};

/// A server whose names mislead: `sendHeaders` and `header` have the words, other lines do what is asked.
const SERVER: &[(&str, &str)] = &[
    (
        "lib/reply.js",
        "'use strict'\n\n\
         const reply = module.exports = {}\n\n\
         /**\n * Get a header of the reply.\n */\n\n\
         reply.header = function header(name) {\n  return this.headers[name]\n}\n\n\
         /**\n * Point the client to another page.\n *\n *     reply.goTo('/login')\n *\n * @param {String} url\n */\n\n\
         reply.goTo = function goTo(url) {\n  return this.put('Location', escapeUrl(url))\n}\n\n\
         /**\n * Copy the headers of the options.\n */\n\n\
         function sendHeaders(reply, options) {\n  if (options.headers) {\n    for (const header of options.headers) reply.put(header, options.headers[header])\n  }\n}\n\n\
         reply.attach = function (file) {\n  this.type = typeOf(file)\n  this.put('Content-Disposition', `attachment; filename=${file}`)\n}\n",
    ),
    (
        "lib/types.d.ts",
        "export interface Reply {\n  /** The Location header. */\n  location: string\n  /** The Content-Disposition header. */\n  contentDisposition: string\n  header(name: string): string\n}\n",
    ),
    (
        "test/location.js",
        "describe('Location header', () => {\n  it('should set the Location header', () => {\n    expect(reply.header('Location')).toBe('/')\n  })\n})\n",
    ),
    (
        "server/outgoing.py",
        "class Outgoing:\n    \"\"\"An answer with an etag header and a length header.\"\"\"\n\n    def header_names(self):\n        return list(self.headers)\n\n    def describe(self, stat):\n        digest = hash_of(stat)\n        self.headers.setdefault(\"etag\", digest)\n\n\ndef parse_etag_header(text):\n    return text.strip('\"')\n",
    ),
    (
        "server/parts.py",
        "class TooManyParts(Exception):\n    \"\"\"An error for too many parts.\"\"\"\n\n\nclass PartsError(Exception):\n    pass\n\n\ndef split(body, most):\n    found = []\n    for piece in body.split(BOUNDARY):\n        if len(found) == most:\n            raise TooManyParts(most)\n        found.append(piece)\n    return found\n",
    ),
    (
        "server/limits.go",
        "package server\n\n// RetryAfter is the name of the Retry-After header.\nconst RetryAfter = \"Retry-After\"\n\n// retryAfterHeader returns the header.\nfunc retryAfterHeader(answer Answer) string {\n\treturn answer.Header().Get(RetryAfter)\n}\n\nfunc refuse(answer Answer, seconds int) {\n\tanswer.Header().Set(\"Retry-After\", text(seconds))\n\tanswer.WriteStatus(429)\n}\n",
    ),
];

#[test]
fn a_header_is_set_where_it_is_given_a_value() {
    check(
        SERVER,
        &BOTH,
        &[
            ("where is the Location header set", "lib/reply.js:21"),
            ("where is the Content-Disposition header set", "lib/reply.js:35"),
            ("where is the etag header set", "server/outgoing.py:7"),
            ("where is the etag header written", "server/outgoing.py:7"),
            ("where is the Retry-After header sent", "server/limits.go:11"),
        ],
    );
}

#[test]
fn an_error_is_raised_where_a_statement_raises_it() {
    check(
        SERVER,
        &BOTH,
        &[
            ("where is the error for too many parts raised", "server/parts.py:9"),
            ("what raises the too many parts error", "server/parts.py:9"),
        ],
    );
}

/// A store with a cache, of which the functions with the words in their names do nothing but clear and count it.
const STORE: &[(&str, &str)] = &[
    (
        "store/rows.py",
        "class Rows:\n    \"\"\"The rows of a store. The result cache has the rows of past lookups.\"\"\"\n\n    default_result_cache_size = 10\n\n    def __init__(self, size):\n        self._result_cache = Recent(size)\n\n    def clear_result_cache(self):\n        \"\"\"Clears the result cache.\"\"\"\n        self._result_cache.clear()\n\n    def result_cache_size(self):\n        return len(self._result_cache)\n\n    def lookup(self, condition):\n        \"\"\"The rows that meet a condition.\"\"\"\n        known = self._result_cache.get(condition)\n        if known is not None:\n            return known\n        rows = [row for row in self.read() if condition(row)]\n        self._result_cache[condition] = rows\n        return rows\n",
    ),
    (
        "store/gateway.py",
        "class GatewayError(Exception):\n    \"\"\"The gateway of a host is not usable.\"\"\"\n\n\ndef gateway_name(text):\n    return text.lower()\n\n\ndef pick(host, gateways):\n    \"\"\"The gateway to reach a host through.\"\"\"\n    for key in (host, domain_of(host), \"all\"):\n        if key in gateways:\n            return gateways[key]\n    return None\n",
    ),
    (
        "store/client.py",
        "from store.gateway import pick\n\n\ndef listen(port):\n    socket = open_port(port)\n    socket.accept(serve)\n    return socket\n\n\ndef serve(connection):\n    for line in connection:\n        answer(connection, line)\n\n\ndef connect(host):\n    return open_socket(pick(host, GATEWAYS))\n",
    ),
];

#[test]
fn a_mechanism_is_where_it_is_read_and_filled() {
    check(STORE, &BOTH, &[("how does the result cache work", "store/rows.py:16")]);
}

#[test]
fn what_is_used_is_decided_by_conditions() {
    check(STORE, &BOTH, &[("which gateway is used for a host", "store/gateway.py:9")]);
}

/// Words that ask for an act do not hide a name that is spelled.
#[test]
fn a_name_is_still_found_where_it_is_declared() {
    check(
        STORE,
        &[Role::Locator],
        &[
            ("how does lookup work", "store/rows.py:16"),
            ("how does `clear_result_cache` work", "store/rows.py:9"),
            ("where is gateway_name used", "store/gateway.py:5"),
        ],
    );
}

/// An editor in one file, in which every word is in every file, so that no word is rare.
const EDITOR: &[(&str, &str)] = &[(
    "editor.c",
    "#include <termios.h>\n\n\
     static struct termios before; /* To restore at exit. */\n\n\
     void disableRawMode(int fd) {\n    if (E.rawmode) {\n        tcsetattr(fd, TCSAFLUSH, &before);\n        E.rawmode = 0;\n    }\n}\n\n\
     /* Called at exit. */\n\
     void atExit(void) {\n    disableRawMode(STDIN_FILENO);\n}\n\n\
     /* The terminal without its own line editing. */\n\
     int enableRawMode(int fd) {\n    struct termios raw;\n\n    if (E.rawmode) return 0;\n    if (!isatty(STDIN_FILENO)) goto fatal;\n    atexit(atExit);\n    if (tcgetattr(fd, &before) == -1) goto fatal;\n\n    raw = before;\n    raw.c_iflag &= ~(BRKINT | ICRNL | INPCK | ISTRIP | IXON);\n    raw.c_oflag &= ~(OPOST);\n    raw.c_cflag |= (CS8);\n    raw.c_lflag &= ~(ECHO | ICANON | IEXTEN | ISIG);\n    raw.c_cc[VMIN] = 0;\n    raw.c_cc[VTIME] = 1;\n\n    if (tcsetattr(fd, TCSAFLUSH, &raw) < 0) goto fatal;\n    E.rawmode = 1;\n    return 0;\n\nfatal:\n    errno = ENOTTY;\n    return -1;\n}\n\n\
     void onResize(int unused) {\n    updateWindowSize();\n    refresh();\n}\n\n\
     /* Sets the highlight of each character of a row. */\n\
     void updateSyntax(erow *row) {\n    int i, previous, inText, inComment;\n    char *p;\n\n    row->hl = realloc(row->hl, row->rsize);\n    memset(row->hl, HL_NORMAL, row->rsize);\n    if (E.syntax == NULL) return;\n\n    p = row->render;\n    i = 0;\n    while (*p && isspace(*p)) {\n        p++;\n        i++;\n    }\n    previous = 1;\n    inText = 0;\n    inComment = 0;\n    if (row->idx > 0 && hasOpenComment(&E.row[row->idx - 1]))\n        inComment = 1;\n    while (*p) {\n        p++;\n        i++;\n    }\n}\n",
)];

#[test]
fn a_long_function_is_not_hidden_by_short_ones_in_a_small_codebase() {
    check(
        EDITOR,
        &BOTH,
        &[
            ("where is raw mode enabled", "editor.c:18"),
            ("how is raw mode disabled", "editor.c:5"),
            ("how is syntax highlighting updated", "editor.c:49"),
        ],
    );
}

/// Environment variables, and functions whose names only have the word of a thing.
const SETTINGS: &[(&str, &str)] = &[
    (
        "term/console.py",
        "class Console:\n    \"\"\"Writes with color to a terminal.\"\"\"\n\n    def __init__(self, environ, no_color=None):\n        self._environ = environ\n        self.no_color = (\n            no_color\n            if no_color is not None\n            else self._environ.get(\"NO_COLOR\", \"\") != \"\"\n        )\n\n    def read_color(self, text):\n        \"\"\"Read a color of the environment.\"\"\"\n        return parse_color(text)\n\n    def write(self, text):\n        color = self.no_color and self.read_color(text)\n        self.out.write(strip_color(text) if color else text)\n",
    ),
    (
        "term/report.py",
        "def report():\n    \"\"\"Print the environment variables that color reads.\"\"\"\n    env_names = (\n        \"CLICOLOR\",\n        \"NO_COLOR\",\n        \"TERM\",\n    )\n    print({name: getenv(name) for name in env_names})\n",
    ),
    (
        "src/colors.rs",
        "/// The colors of LS_COLORS.\npub fn load() -> Option<Colors> {\n    // LS_COLORS is read from the environment.\n    Colors::from_env()\n}\n",
    ),
    (
        "tests/environment.rs",
        "fn command() -> Command {\n    let mut command = Command::new(\"ls\");\n    command.env(\"LS_COLORS\", \"\");\n    command\n}\n",
    ),
    (
        "web/context.go",
        "package web\n\n// ContentType returns the Content-Type header of the request.\nfunc (c *Context) ContentType() string {\n\treturn filterFlags(c.requestHeader(\"Content-Type\"))\n}\n\nfunc (c *Context) requestHeader(key string) string {\n\treturn c.Request.Header.Get(key)\n}\n",
    ),
    (
        "web/render.go",
        "package web\n\nfunc writeType(w Writer, value []string) {\n\theader := w.Header()\n\tif val := header[\"Content-Type\"]; len(val) == 0 {\n\t\theader[\"Content-Type\"] = value\n\t}\n}\n",
    ),
];

#[test]
fn what_is_quoted_is_read_and_written_where_a_statement_does_it() {
    check(
        SETTINGS,
        &[Role::Locator],
        &[
            ("where is the NO_COLOR environment variable read", "term/console.py:9"),
            ("where is NO_COLOR read", "term/console.py:9"),
            ("where is LS_COLORS read", "src/colors.rs:2"),
            ("where is the Content-Type header set", "web/render.go:3"),
        ],
    );
}

#[test]
fn a_name_in_a_question_is_found_where_it_is_defined_not_where_it_is_used() {
    check(
        &[
            ("prices.py", "def parse_price(text):\n    return int(text)\n"),
            (
                "shop.py",
                "from prices import parse_price\n\ndef total(texts):\n    return sum(parse_price(text) for text in texts)\n",
            ),
            ("gateway.py", "def call_gateway(order):\n    return send(order)\n"),
        ],
        &BOTH,
        &[("How does parse_price work? Show examples.", "prices.py:1")],
    );
}
