//! What of a repository's own configuration reaches git: an allow-list, with the reason for every key that git documents.
//!
//! A key that is not kept is left out of the private configuration ([`view`](crate::view)), whatever its value; so is every key
//! that this table does not know. The user's own configuration is not judged: the user wrote it, and git reads it as ever.
//! A test compares the table with the keys that the installed git lists.

use crate::config::ConfigEntry;

/// What happens to a key of a repository's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It reaches git, if its value is of this kind.
    Keep(Kind),
    /// Names a program, or a command for a shell.
    Program,
    /// Names a file or folder, which git would read or write.
    File,
    /// Names an address that git would connect to, or a proxy.
    Address,
    /// Decides which servers a secured connection trusts, or what is sent to them.
    Trust,
    /// Decides what counts as a change, or as a commit: with it, work could be hidden from the proof that nothing is lost.
    Hides,
    /// Nothing that tamis does depends on it.
    Unused,
}

/// The values that a key may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Number,
    Word(&'static [&'static str]),
    /// Letters, digits and `.`, `_`, `-`, `/`.
    Name,
    /// One line of text.
    Text,
    /// The address of a remote, which is judged again when it is used.
    Url,
    Refspec,
}

use Kind::{Flag, Name, Number, Refspec, Text, Url, Word};
use Verdict::{Address, File, Hides, Keep, Program, Trust, Unused};

/// Section, variable, verdict and reason, whatever the subsection. The first line that matches counts; `*` is any variable.
pub(crate) const KEYS: &[(&str, &str, Verdict, &str)] = &[
    // The format of the repository: a wrong one would make git misread it.
    ("core", "repositoryformatversion", Keep(Word(&["0", "1"])), "the format of the repository"),
    ("extensions", "objectformat", Keep(Word(&["sha1", "sha256"])), "the format of object names"),
    ("extensions", "compatobjectformat", Keep(Word(&["sha1", "sha256"])), "the format of object names"),
    (
        "extensions",
        "refstorage",
        Keep(Word(&["files", "reftable"])),
        "newer gits also take an address, which names a folder",
    ),
    ("extensions", "partialclone", Keep(Name), "the remote that missing objects are fetched from"),
    ("extensions", "preciousobjects", Keep(Flag), "forbids deleting objects"),
    ("extensions", "relativeworktrees", Keep(Flag), "how worktrees are registered"),
    ("extensions", "submodulepathconfig", Keep(Flag), "where submodules are"),
    ("extensions", "noop", Keep(Flag), "means nothing"),
    ("extensions", "noop-v1", Keep(Flag), "means nothing"),
    ("extensions", "worktreeconfig", File, "has git read a second file; tamis reads it instead"),
    ("core", "bare", Keep(Flag), "of a local remote; everywhere else tamis knows the folder of files"),
    // What files look like in a worktree, so that git and the agent's git agree.
    ("core", "autocrlf", Keep(Word(&["true", "false", "input"])), "line ends in worktrees"),
    ("core", "eol", Keep(Word(&["lf", "crlf", "native"])), "line ends in worktrees"),
    ("core", "sparsecheckout", Keep(Flag), "a new worktree has the files that the repository has"),
    ("core", "sparsecheckoutcone", Keep(Flag), "the same"),
    (
        "core",
        "sharedrepository",
        Keep(Word(&[
            "umask",
            "group",
            "all",
            "world",
            "everybody",
            "true",
            "false",
            "0",
            "1",
            "2",
            "0600",
            "0640",
            "0644",
            "0660",
            "0664",
        ])),
        "the mode of new files in the repository",
    ),
    ("index", "sparse", Keep(Flag), "the format of the index"),
    // Remotes.
    ("remote", "url", Keep(Url), "where a branch is pushed to"),
    ("remote", "pushurl", Keep(Url), "where a branch is pushed to"),
    ("remote", "fetch", Keep(Refspec), "which references remember what was pushed"),
    ("remote", "promisor", Keep(Flag), "the remote that missing objects are fetched from"),
    ("remote", "partialclonefilter", Keep(Text), "which objects are missing"),
    ("url", "insteadof", Keep(Url), "part of a remote's address"),
    ("url", "pushinsteadof", Keep(Url), "part of a remote's address"),
    ("remote", "uploadpack", Program, "runs on the other side, which may be this machine"),
    ("remote", "receivepack", Program, "runs on the other side, which may be this machine"),
    ("remote", "vcs", Program, "names a helper, `git-remote-…`"),
    ("remote", "lfsurl", Address, "an address of git-lfs"),
    ("remote", "lfspushurl", Address, "an address of git-lfs"),
    ("remote", "proxy", Address, "a proxy"),
    ("remote", "proxyauthmethod", Trust, "what is sent to a proxy"),
    ("remote", "serveroption", Unused, ""),
    ("remote", "mirror", Unused, "would push every reference, and delete others"),
    ("remote", "push", Unused, "tamis names what is pushed"),
    ("remote", "pushdefault", Unused, "tamis names the remote"),
    ("remote", "prune", Unused, "would delete references"),
    ("remote", "prunetags", Unused, "would delete references"),
    ("remote", "skipdefaultupdate", Unused, ""),
    ("remote", "skipfetchall", Unused, ""),
    ("remote", "tagopt", Unused, ""),
    ("remote", "followremotehead", Unused, ""),
    ("remotes", "*", Unused, ""),
    // The author of commits.
    ("user", "name", Keep(Text), "whether an agent's commits would have an author"),
    ("user", "email", Keep(Text), "whether an agent's commits would have an author"),
    ("user", "signingkey", File, "may name the file of a key"),
    ("user", "useconfigonly", Unused, ""),
    // What a local remote accepts.
    ("receive", "denynonfastforwards", Keep(Flag), "what the remote accepts"),
    ("receive", "denydeletes", Keep(Flag), "what the remote accepts"),
    ("receive", "denydeletecurrent", Keep(Flag), "what the remote accepts"),
    (
        "receive",
        "denycurrentbranch",
        Keep(Word(&["refuse", "ignore", "warn", "true", "false"])),
        "`updateInstead` would change the remote's files",
    ),
    ("receive", "fsckobjects", Keep(Flag), "what the remote accepts"),
    ("receive", "maxinputsize", Keep(Number), "what the remote accepts"),
    ("receive", "shallowupdate", Keep(Flag), "what the remote accepts"),
    ("receive", "hiderefs", Keep(Text), "what the remote shows"),
    ("receive", "procreceiverefs", Program, "has a hook run"),
    ("receive", "skiplist", File, ""),
    ("receive", "autogc", Program, "starts a garbage collection, which has hooks"),
    ("receive", "certnonceseed", Unused, "pushes are not signed"),
    ("receive", "*", Unused, ""),
    ("transfer", "fsckobjects", Keep(Flag), "what the remote accepts"),
    ("transfer", "hiderefs", Keep(Text), "what the remote shows"),
    ("transfer", "bundleuri", Address, "downloads from an address"),
    ("transfer", "*", Unused, ""),
    // Programs.
    ("core", "fsmonitor", Program, "runs whenever git looks at files"),
    ("core", "fsmonitorhookversion", Program, "belongs to it"),
    ("core", "hookspath", Program, "the folder of hooks"),
    ("core", "sshcommand", Program, ""),
    ("core", "askpass", Program, ""),
    ("core", "gitproxy", Program, "a command that connects"),
    ("core", "alternaterefscommand", Program, ""),
    ("core", "alternaterefsprefixes", Unused, ""),
    ("core", "editor", Program, ""),
    ("core", "pager", Program, ""),
    ("sequence", "*", Program, "an editor"),
    ("alias", "*", Program, "may be a command for a shell"),
    ("pager", "*", Program, "may be a command for a shell"),
    ("filter", "clean", Program, "runs whenever git reads a file"),
    ("filter", "smudge", Program, "runs whenever git writes a file"),
    ("filter", "process", Program, "runs whenever git reads or writes a file"),
    ("filter", "required", Hides, "makes the lack of such a program an error"),
    ("diff", "external", Program, ""),
    ("diff", "command", Program, ""),
    ("diff", "textconv", Program, ""),
    ("diff", "tool", Program, ""),
    ("diff", "guitool", Program, ""),
    ("diff", "orderfile", File, ""),
    ("diff", "ignoresubmodules", Hides, ""),
    ("diff", "*", Unused, ""),
    ("difftool", "*", Program, ""),
    ("merge", "driver", Program, ""),
    ("merge", "tool", Program, ""),
    ("merge", "guitool", Program, ""),
    ("merge", "*", Unused, "tamis only fast-forwards"),
    ("mergetool", "*", Program, ""),
    ("gpg", "allowedsignersfile", File, ""),
    ("gpg", "revocationfile", File, ""),
    ("gpg", "*", Program, ""),
    ("hook", "*", Program, "hooks of newer gits"),
    ("interactive", "difffilter", Program, ""),
    ("interactive", "*", Unused, ""),
    ("trailer", "*", Program, ""),
    ("browser", "*", Program, ""),
    ("web", "*", Program, ""),
    ("man", "*", Program, ""),
    ("help", "browser", Program, ""),
    ("help", "htmlpath", File, ""),
    ("help", "*", Unused, ""),
    ("guitool", "*", Program, ""),
    ("gui", "*", Unused, ""),
    ("instaweb", "*", Program, ""),
    ("imap", "tunnel", Program, ""),
    ("imap", "*", Address, ""),
    ("sendemail", "*", Program, "programs, servers and files of `git send-email`"),
    ("uploadpack", "packobjectshook", Program, ""),
    ("uploadpack", "*", Unused, ""),
    ("uploadpackfilter", "*", Unused, ""),
    ("uploadarchive", "*", Unused, ""),
    ("tar", "command", Program, ""),
    ("tar", "*", Unused, ""),
    ("gc", "recentobjectshook", Program, ""),
    ("gc", "repackfilterto", File, "a folder that objects are moved to"),
    ("gc", "*", Unused, "tamis never collects garbage in a repository"),
    ("maintenance", "*", Program, "starts gits in the background"),
    ("submodule", "update", Program, "may be a command for a shell"),
    ("submodule", "url", Address, ""),
    ("submodule", "ignore", Hides, ""),
    ("submodule", "recurse", Program, "git would run in submodules, with their configuration"),
    ("submodule", "alternatelocation", File, ""),
    ("submodule", "*", Unused, "tamis does not fetch submodules"),
    ("branch", "mergeoptions", Program, "may name a strategy, which is a program"),
    ("branch", "*", Unused, "tamis names branches and remotes"),
    ("pull", "octopus", Program, "a merge strategy"),
    ("pull", "twohead", Program, "a merge strategy"),
    ("pull", "*", Unused, ""),
    ("lfs", "*", Program, "transfer agents, addresses and folders of git-lfs"),
    ("annex", "*", Program, "commands of git-annex"),
    ("fsmonitor", "*", File, "the folder of the monitor's socket"),
    ("svn", "*", Unused, ""),
    ("svn-remote", "*", Address, ""),
    ("gitcvs", "*", File, "a database and a log"),
    ("gitweb", "*", Unused, ""),
    // Files.
    ("include", "*", File, "has git read another file as configuration"),
    ("includeif", "*", File, "has git read another file as configuration"),
    ("core", "worktree", File, "the folder of files; tamis knows it"),
    ("core", "excludesfile", File, "with it, work could be hidden"),
    ("core", "attributesfile", File, ""),
    ("attr", "*", Hides, "takes attributes from another tree"),
    ("blame", "ignorerevsfile", File, ""),
    ("blame", "*", Unused, ""),
    ("commit", "template", File, ""),
    ("commit", "gpgsign", Program, "runs gpg"),
    ("commit", "*", Unused, ""),
    ("tag", "gpgsign", Program, "runs gpg"),
    ("tag", "forcesignannotated", Program, "runs gpg"),
    ("tag", "*", Unused, ""),
    ("push", "gpgsign", Program, "runs gpg"),
    ("push", "negotiate", Program, "has a push fetch first"),
    ("push", "recursesubmodules", Program, "git would run in submodules, with their configuration"),
    ("push", "pushoption", Unused, ""),
    ("push", "*", Unused, "tamis names what is pushed, and how"),
    ("log", "showsignature", Program, "runs gpg"),
    ("log", "*", Unused, ""),
    ("format", "signaturefile", File, ""),
    ("format", "outputdirectory", File, ""),
    ("format", "*", Unused, ""),
    ("fsck", "skiplist", File, ""),
    ("fsck", "*", Unused, ""),
    ("fetch", "skiplist", File, ""),
    ("fetch", "bundleuri", Address, "downloads from an address"),
    ("fetch", "bundlecreationtoken", Unused, ""),
    ("fetch", "recursesubmodules", Program, "git would run in submodules, with their configuration"),
    ("fetch", "*", Unused, ""),
    ("bundle", "*", Address, "downloads from an address"),
    ("mailmap", "file", File, ""),
    ("mailmap", "*", Unused, ""),
    ("trace2", "*", File, "writes a log; git itself takes it from the user only"),
    ("init", "templatedir", File, ""),
    ("init", "*", Unused, ""),
    // Connections.
    ("credential", "*", Program, "helpers, and for whom they are asked"),
    ("credentialcache", "*", Unused, ""),
    ("credentialstore", "*", Unused, ""),
    ("http", "cookiefile", File, "is overwritten with `http.saveCookies`"),
    ("http", "savecookies", File, "overwrites a file"),
    ("http", "proxy", Address, "a proxy"),
    ("http", "curloptresolve", Trust, "another machine for the same name"),
    ("http", "*", Trust, "whom a connection trusts, what is sent, where redirects lead"),
    ("ssh", "*", Program, "how the program's arguments are written"),
    ("protocol", "*", Trust, "which kinds of addresses are allowed"),
    ("promisor", "*", Unused, ""),
    ("safe", "*", Trust, "whose repositories are trusted; git itself takes it from the user only"),
    ("lsrefs", "*", Unused, ""),
    // What counts as a change, or as a commit.
    ("status", "*", Hides, "what a status leaves out"),
    ("core", "ignorecase", Hides, "tamis looks at the file system instead"),
    ("core", "filemode", Hides, "tamis looks at the file system instead"),
    ("core", "symlinks", Hides, "tamis looks at the file system instead"),
    ("core", "precomposeunicode", Hides, "git looks at the system"),
    ("core", "ignorestat", Hides, ""),
    ("core", "checkstat", Hides, ""),
    ("core", "trustctime", Hides, ""),
    ("core", "untrackedcache", Hides, ""),
    ("core", "splitindex", Hides, ""),
    ("core", "preloadindex", Unused, ""),
    ("core", "usereplacerefs", Hides, "other commits in the place of the true ones"),
    ("core", "commitgraph", Hides, "other parents in the place of the true ones"),
    ("core", "multipackindex", Unused, ""),
    ("core", "protecthfs", Trust, "which paths a tree may have"),
    ("core", "protectntfs", Trust, "which paths a tree may have"),
    ("sparse", "*", Hides, ""),
    ("splitindex", "*", Unused, ""),
    ("feature", "*", Hides, "switches others of these on"),
    ("index", "*", Unused, ""),
    ("add", "*", Hides, "a snapshot with files left out"),
    // The rest of git's documentation: how it prints, packs and asks.
    ("core", "abbrev", Unused, ""),
    ("core", "bigfilethreshold", Unused, ""),
    ("core", "checkroundtripencoding", Unused, ""),
    ("core", "commentchar", Unused, ""),
    ("core", "commentstring", Unused, ""),
    ("core", "compression", Unused, ""),
    ("core", "createobject", Unused, ""),
    ("core", "deltabasecachelimit", Unused, ""),
    ("core", "filesreflocktimeout", Unused, ""),
    ("core", "fsync", Unused, ""),
    ("core", "fsyncmethod", Unused, ""),
    ("core", "fsyncobjectfiles", Unused, ""),
    ("core", "hidedotfiles", Unused, ""),
    ("core", "lockfilepid", Unused, ""),
    ("core", "logallrefupdates", Unused, ""),
    ("core", "loosecompression", Unused, ""),
    ("core", "maxtreedepth", Unused, ""),
    ("core", "notesref", Unused, ""),
    ("core", "packedgitlimit", Unused, ""),
    ("core", "packedgitwindowsize", Unused, ""),
    ("core", "packedrefstimeout", Unused, ""),
    ("core", "prefersymlinkrefs", Unused, ""),
    ("core", "quotepath", Unused, ""),
    ("core", "restrictinheritedhandles", Unused, ""),
    ("core", "safecrlf", Unused, ""),
    ("core", "unsetenvvars", Unused, ""),
    ("core", "warnambiguousrefs", Unused, ""),
    ("core", "whitespace", Unused, ""),
    ("advice", "*", Unused, ""),
    ("am", "*", Unused, ""),
    ("apply", "*", Unused, ""),
    ("author", "*", Unused, "tamis commits under its own name"),
    ("committer", "*", Unused, "tamis commits under its own name"),
    ("bitmappseudomerge", "*", Unused, ""),
    ("checkout", "*", Unused, ""),
    ("clean", "*", Unused, ""),
    ("clone", "*", Unused, ""),
    ("color", "*", Unused, ""),
    ("column", "*", Unused, ""),
    ("commitgraph", "*", Unused, ""),
    ("completion", "*", Unused, ""),
    ("fastimport", "*", Unused, ""),
    ("grep", "*", Unused, ""),
    ("i18n", "*", Unused, ""),
    ("mailinfo", "*", Unused, ""),
    ("notes", "*", Unused, ""),
    ("pack", "*", Unused, ""),
    ("pretty", "*", Unused, ""),
    ("rebase", "*", Unused, ""),
    ("reftable", "*", Unused, ""),
    ("repack", "*", Unused, ""),
    ("replay", "*", Unused, ""),
    ("rerere", "*", Unused, ""),
    ("revert", "*", Unused, ""),
    ("showbranch", "*", Unused, ""),
    ("stash", "*", Unused, ""),
    ("versionsort", "*", Unused, ""),
    ("worktree", "*", Unused, ""),
];

/// What is decided about a key, and why. `None`: the table does not know it, and it is not kept.
pub(crate) fn verdict(section: &str, variable: &str) -> Option<(Verdict, &'static str)> {
    let line = KEYS.iter().find(|(s, v, ..)| *s == section && (*v == "*" || *v == variable));
    line.map(|(_, _, verdict, reason)| (*verdict, *reason))
}

impl ConfigEntry {
    /// Whether it reaches git.
    pub(crate) fn is_kept(&self) -> bool {
        match verdict(&self.section, &self.variable) {
            Some((Verdict::Keep(kind), _)) => kind.admits(self.value.as_deref()),
            judged => {
                tracing::debug!(key = self.key(), ?judged, "left out of a repository's configuration");
                false
            }
        }
    }
}

impl Kind {
    fn admits(self, value: Option<&[u8]>) -> bool {
        // A variable without a value is true.
        let Some(value) = value else { return self == Flag };
        let Ok(text) = str::from_utf8(value) else {
            return self == Text && !value.iter().any(u8::is_ascii_control);
        };
        let plain = !text.chars().any(char::is_control);
        match self {
            Flag => ["true", "false", "yes", "no", "on", "off", "1", "0", ""]
                .iter()
                .any(|word| text.eq_ignore_ascii_case(word)),
            Number => text
                .trim_end_matches(['k', 'm', 'g', 'K', 'M', 'G'])
                .bytes()
                .all(|byte| byte.is_ascii_digit()),
            Word(words) => words.iter().any(|word| text.eq_ignore_ascii_case(word)),
            Name => text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte)),
            Text | Url => plain,
            Refspec => plain && text.strip_prefix('+').unwrap_or(text).starts_with("refs/"),
        }
    }
}
