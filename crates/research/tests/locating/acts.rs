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
        "from store.gateway import pick\n\n\ndef connect(host):\n    return open_socket(pick(host, GATEWAYS))\n",
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
