//! The kinds of text that fill logs, as data: lines with places to fill.
//!
//! `%w` a word, `%n` an identifier, `%T` a type's name, `%d` a small number, `%D` a large one, `%p` a path, `%h` eight
//! hexadecimal digits, `%s` a few words, `%t` a time of day.

/// A kind of text.
pub(crate) struct Dialect {
    pub(crate) lines: &'static [&'static str],
    /// A line with one of these endings indents what follows it.
    pub(crate) opens: &'static [char],
    /// Closes what was opened.
    pub(crate) closer: &'static str,
}

pub(crate) static RUST: Dialect = Dialect {
    opens: &['{'],
    closer: "}",
    lines: &[
        "let %n = %n.%n(%n)?;",
        "let mut %n = %T::new(%n, %d);",
        "pub fn %n(%n: &%T, %n: usize) -> Result<%T, %TError> {",
        "fn %n(&self, %n: %T) -> Option<&%T> {",
        "if %n.%n().is_empty() && %n > %d {",
        "match %n.%n(&%n) {",
        "%T::%T(%n) => %n.%n(%n, \"%s\"),",
        "for %n in %n.iter().filter(|%n| %n.%n != %d) {",
        "// %s",
        "/// %s, %s.",
        "use crate::%n::{%T, %T};",
        "impl<'a> %T for %T<'a> {",
        "return Err(%T::%T { %n: %n.to_string(), %n });",
        "assert_eq!(%n(\"%n\"), Some(%D), \"%s\");",
        "%n.push(format!(\"{}: {%n}\", self.%n));",
        "#[derive(Debug, Clone)]",
        "pub struct %T {",
        "%n: Vec<%T>,",
        "self.%n += %n.%n;",
        "",
    ],
};

pub(crate) static TYPESCRIPT: Dialect = Dialect {
    opens: &['{'],
    closer: "};",
    lines: &[
        "const %n = await %n.%n({ %n, %n: %d });",
        "export async function %n(%n: %T, %n?: string): Promise<%T[]> {",
        "import { %n, %T } from '@/%n/%w';",
        "if (!%n || %n.%n.length === %d) {",
        "return %n.map((%n) => %n.%n(%n)).filter(Boolean);",
        "<%T %n={%n} className=\"%w-%d %w-%w\" on%T={() => %n(%n)} />",
        "throw new Error(`%s: ${%n}`);",
        "interface %T extends %T<%T> {",
        "%n: z.string().min(%d).describe(\"%s\"),",
        "expect(%n.%n).toEqual({ %n: '%s', %n: %D });",
        "// %s",
        "export const %n: Record<string, %T> = {",
        "'%n': { %n: \"%w\", %n: [%d, %d] },",
        "useEffect(() => {",
        "set%T((previous) => ({ ...previous, %n: %n }));",
        "",
    ],
};

pub(crate) static PYTHON: Dialect = Dialect {
    opens: &[':'],
    closer: "",
    lines: &[
        "def %n(self, %n: %T, %n=%d) -> %T:",
        "%n = self.%n.%n(%n, %n=\"%w\")",
        "for %n, %n in enumerate(%n[\"%n\"]):",
        "if %n is None or len(%n) > %d:",
        "raise %TError(f\"%s {%n!r}\")",
        "from %n.%n import %T, %n",
        "\"\"\"%s %s.\"\"\"",
        "# %s",
        "with open(os.path.join(%n, '%p'), encoding='utf-8') as %n:",
        "return {\"%n\": %n, \"%n\": [%n for %n in %n if %n.%n]}",
        "assert %n(%d, '%w') == %D, \"%s\"",
        "class %T(%T):",
        "@pytest.mark.parametrize(\"%n\", [\"%w\", \"%w\", \"%s\"])",
        "%n[\"%n\"] = np.array([%D, %D, %d])",
        "",
    ],
};

pub(crate) static GREP: Dialect = Dialect {
    opens: &[],
    closer: "",
    lines: &[
        "%p:%d:    let %n = %n(%n);",
        "%p:%d:// %s",
        "%p:%d:import { %n } from '%p';",
        "%p:%D:  %n: \"%s\",",
        "%p-%d-        return %n.%n(%n);",
        "%p:%d:def %n(%n, %n):",
    ],
};

pub(crate) static BUILD: Dialect = Dialect {
    opens: &[],
    closer: "",
    lines: &[
        "   Compiling %w-%w v%d.%d.%d (%p)",
        "error[E0%d]: %s\n   --> %p:%d:%d\n    |\n%d |     let %n = %n.%n(%n);\n    |              ^^^^^^^ expected `%T`, found `&%T`\n    |",
        "warning: unused variable: `%n`\n  --> %p:%d:%d\n   |\n%d | fn %n(%n: %T) {\n   |       ^^^^ help: prefix it with an underscore: `_%n`\n",
        "%p(%d,%d): error TS%d: Property '%n' does not exist on type '%T'.",
        "note: %s `%n`",
        "  File \"%p\", line %d, in %n\n    %n = %n.%n(%n)",
        "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: could not compile `%w` (lib) due to %d previous errors",
    ],
};

pub(crate) static TESTS: Dialect = Dialect {
    opens: &[],
    closer: "",
    lines: &[
        "test %n::%n::%n ... ok",
        "test %n::%n ... FAILED",
        "  ✓ %s (%d ms)",
        "  ✗ %s %n",
        "%p::%n PASSED",
        "thread '%n::%n' (%D) panicked at %p:%d:%d:\nassertion `left == right` failed: %s\n  left: \"%n\"\n right: \"%s\"",
        "test result: FAILED. %d passed; %d failed; %d ignored; finished in %d.%ds",
    ],
};

pub(crate) static LISTING: Dialect = Dialect {
    opens: &[],
    closer: "",
    lines: &[
        "%p",
        "%p",
        "-rw-r--r--  1 %w  staff  %D Mar %d %t %p",
        "drwxr-xr-x  %d %w  staff  %d Apr %d %t %n",
    ],
};

pub(crate) static LOG: Dialect = Dialect {
    opens: &[],
    closer: "",
    lines: &[
        "2025-11-%dT%t.%dZ  INFO %n::%n: %s %n=%D",
        "[%t] WARN %n - %s (%h%h)",
        "%t %n[%D]: %s: \"%s\" id=%h",
        "GET /api/%n/%h?%n=%w 200 %dms",
        "    at %T.%n (%p:%d:%d)",
        "%h %s",
    ],
};

pub(crate) static DATA: Dialect = Dialect {
    opens: &['{', '['],
    closer: "},",
    lines: &[
        "\"%n\": \"%s\",",
        "\"%n\": %D,",
        "\"%n\": {",
        "\"%n\": [\"%w\", \"%w\", \"%n\"],",
        "\"id\": \"%h%h\",",
        "\"%n\": \"%p\",",
        "\"%n\": true,",
    ],
};

pub(crate) static DIFF: Dialect = Dialect {
    opens: &[],
    closer: "",
    lines: &[
        "diff --git a/%p b/%p\nindex %h..%h 100644",
        "@@ -%d,%d +%d,%d @@ fn %n(%n: %T) {",
        "+    let %n = %n.%n(%n)?;",
        "-    let %n = %n.%n(%n).unwrap();",
        "     %n.%n(%n, \"%s\");",
        "+// %s",
        "-    if %n > %d {",
    ],
};

/// Source files: how their names end, and what they hold.
pub(crate) static SOURCES: &[(&str, &Dialect)] =
    &[("rs", &RUST), ("ts", &TYPESCRIPT), ("tsx", &TYPESCRIPT), ("py", &PYTHON), ("json", &DATA)];

/// Commands, and what they print.
pub(crate) static COMMANDS: &[(&str, &Dialect)] = &[
    ("grep -rn \"%n\" %p", &GREP),
    ("rg -n '%n|%n' %p | head -%d", &GREP),
    ("cargo test -p %w %n 2>&1 | tail -%d", &TESTS),
    ("python3 -m pytest %p -k %n -q", &TESTS),
    ("cargo build --release 2>&1 | grep -A%d error", &BUILD),
    ("npx tsc --noEmit -p %p", &BUILD),
    ("ls -la %p && git status --short", &LISTING),
    ("find . -name '*%w*' -not -path './node_modules/*'", &LISTING),
    ("git diff HEAD~%d -- %p", &DIFF),
    ("tail -n %d %p", &LOG),
    ("curl -s localhost:%d/api/%n | jq '.%n'", &DATA),
    ("sed -n '%d,%dp' %p", &RUST),
];
