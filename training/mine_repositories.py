#!/usr/bin/env python3
"""Makes training cases from the histories of git repositories.

A case is one line of JSON: {"id", "repo", "lang", "query", "text", "gold"}; `gold` holds 1-based line numbers of `text`.

  commits   a commit's message; a file as it was before; the lines that the commit changed
  docs      the first sentence of a definition's doc comment; the file without that comment; the definition's lines
  sections  a heading of a document; the document without that heading, or with it; the section's lines

usage: mine_repositories.py [--kept-out FILE]... OUT_FOLDER MOST_PER_REPOSITORY OWNER+NAME_FOLDER...

Repositories that a `--kept-out` file lists are skipped and counted (see kept_out.py). Each folder is `owner+name/repo` or `owner+name`, a git directory. Files are chosen by a hash of their identity, so a
second run over the same repositories gives the same cases. One process per repository.
"""
import argparse, hashlib, json, multiprocessing, os, re, subprocess

from kept_out import KeptOut

LANGUAGES = {'.rs': 'rust', '.py': 'python', '.ts': 'typescript', '.tsx': 'typescript', '.js': 'javascript', '.mjs': 'javascript',
             '.jsx': 'javascript', '.go': 'go', '.java': 'java', '.c': 'c', '.h': 'c', '.cc': 'cpp', '.cpp': 'cpp', '.hpp': 'cpp'}
DOCUMENTS = ('.md', '.rst', '.mdx')
SKIP = re.compile(r'(^|/)(vendor|node_modules|third_party|dist|generated|testdata|fixtures|snapshots?|__snapshots__|locales?|CHANGELOG\S*|changelog\S*|package-lock\.json)(/|$)|\.min\.|_pb2|\.pb\.|\.lock$', re.I)
TRAILER = re.compile(r'^(signed-off-by|co-authored-by|reviewed-by|change-id|git-svn-id|closes?|fixes|refs?|pr-url|reviewed-on|acked-by|cc|bug|tested-by|suggested-by|reported-by|helped-by|ref|fixes-bug)\b.*:|^(close[sd]?|fix(e[sd])?|resolve[sd]?|see) #?\d+\.?$', re.I)
MIN_LINES, MAX_LINES, MAX_BYTES = 60, 4000, 160_000


def order(*parts):
    return hashlib.sha256('\0'.join(parts).encode('utf-8', 'surrogateescape')).hexdigest()


def git(folder, *arguments, data=None):
    done = subprocess.run(['git', '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-C', folder, *arguments],
                          input=data, capture_output=True, timeout=900)
    return done.stdout


def language(path):
    return LANGUAGES.get(os.path.splitext(path)[1].lower())


def blobs(folder, names):
    """The texts of `revision:path` or hashes, in order; None for a missing or binary file."""
    raw = git(folder, 'cat-file', '--batch', data='\n'.join(names).encode('utf-8', 'surrogateescape') + b'\n')
    at, texts = 0, []
    for _ in names:
        end = raw.find(b'\n', at)
        head = raw[at:end].split()
        at = end + 1
        if len(head) < 3 or head[-1] == b'missing' or not head[-1].isdigit():
            texts.append(None)
            continue
        size = int(head[-1])
        body, at = raw[at:at + size], at + size + 1
        try:
            texts.append(body.decode() if size <= MAX_BYTES and b'\0' not in body else None)
        except UnicodeDecodeError:
            texts.append(None)
    return texts


def fits(text):
    return text is not None and MIN_LINES <= text.count('\n') + 1 <= MAX_LINES


def message(body):
    """A commit's message without trailers and references that tools added."""
    lines = [l.rstrip() for l in body.strip().split('\n')]
    lines = [l for l in lines if not TRAILER.match(l.strip())]
    text = '\n'.join(l for l in lines if l.strip())
    text = re.sub(r'\s*\(?(#|GH-?|gh-)\d+\)?', '', text)
    text = re.sub(r'https?://\S+', '', text)
    return text.strip()[:1500]


def changed(patch):
    """Lines of the old file that a patch changed; beside an insertion, its two neighbours."""
    gold, old, pending = set(), 0, False
    for line in patch.split('\n'):
        if line.startswith('@@'):
            found = re.match(r'@@ -(\d+)(?:,(\d+))? \+', line)
            if not found:
                return set()
            old, count = int(found[1]), int(found[2] or 1)
            if count == 0:
                gold.update((old, old + 1))
        elif line.startswith('-') and not line.startswith('---'):
            gold.add(old)
            old += 1
    return gold


def mine_commits(folder, repo, most):
    raw = git(folder, 'log', '--no-merges', '-n', '6000', '--format=%x01%H%x02%B%x03', '--name-only', 'HEAD')
    found = []
    for record in raw.decode('utf-8', 'replace').split('\x01')[1:]:
        head, _, names = record.partition('\x03')
        commit, _, body = head.partition('\x02')
        names = [n for n in names.strip().split('\n') if n]
        files = [n for n in names if language(n) and not SKIP.search(n)]
        query = message(body)
        if not files or len(names) > 12 or len(query) < 15 or re.match(r'(merge|revert|bump|release|update (dep|chang)|chore\(deps|v?\d+\.\d+)', query, re.I):
            continue
        files.sort(key=lambda n: order(repo, commit, n))
        found += [(order(repo, commit, n), commit, n, query) for n in files[:2]]
    found.sort()
    cases, per_file = [], {}
    for start in range(0, len(found), 200):
        part = found[start:start + 200]
        texts = blobs(folder, [f'{commit}^:{name}' for _, commit, name, _ in part])
        for (_, commit, name, query), text in zip(part, texts):
            if not fits(text) or per_file.get(name, 0) >= 4:
                continue
            patch = git(folder, 'diff-tree', '-p', '-U0', '--no-ext-diff', '--no-textconv', '--no-renames', f'{commit}^', commit, '--', name).decode('utf-8', 'replace')
            count = text.count('\n') + 1
            gold = sorted(g for g in changed(patch) if 1 <= g <= count)
            if not gold or len(gold) > 60 or len(gold) > count * .25:
                continue
            per_file[name] = per_file.get(name, 0) + 1
            cases.append({'id': f'{repo}@{commit[:10]}:{name}', 'repo': repo, 'lang': language(name), 'query': query, 'text': text, 'gold': gold})
            if len(cases) >= most:
                return cases
    return cases


def sentence(text):
    text = re.sub(r'\s+', ' ', text).strip()
    found = re.match(r'(.{20,300}?[.!?])(\s|$)', text)
    text = found[1] if found else text[:300]
    return text if 20 <= len(text) and len(text.split()) >= 4 and not re.search(r'copyright|licen[cs]e|todo|fixme|deprecated|@inheritdoc|eslint|clang-format|noqa', text, re.I) else None


def indent_of(line):
    return len(line) - len(line.lstrip())


DEFINES = {
    'rust': re.compile(r'^\s*(pub(\([^)]*\))?\s+)?(default\s+)?(const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*(fn|struct|enum|trait|impl|macro_rules!|type|mod)\b'),
    'go': re.compile(r'^(func|type)\b'),
    'java': re.compile(r'^\s*((public|private|protected|static|final|abstract|synchronized|default)\s+)*[\w<>\[\],.? ]+\s+\w+\s*\(|^\s*((public|private|protected|static|final|abstract)\s+)*(class|interface|enum)\b'),
    'typescript': re.compile(r'^\s*(export\s+)?(default\s+)?(async\s+)?(function|class|interface|type|const|enum|abstract|static|private|public|protected|get|set|readonly)\b|^\s*(async\s+)?[\w$]+\s*(<[^>]*>)?\([^)]*\)?.*\{\s*$'),
    'c': re.compile(r'^[A-Za-z_][\w\s\*]*\w\s*\('),
    'cpp': re.compile(r'^\s*(template\b|[A-Za-z_][\w:<>,\s\*&~]*\w\s*\(|class\b|struct\b)'),
}
DEFINES['javascript'] = DEFINES['typescript']


def block_end(lines, first):
    """The last line of a definition in a language with braces that begins in line `first`; None if it is not found."""
    depth, opened = 0, False
    for at in range(first, min(len(lines), first + 400)):
        bare = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', '', lines[at])
        depth += bare.count('{') - bare.count('}')
        opened = opened or '{' in bare
        if opened and depth <= 0:
            return at
        if not opened and bare.rstrip().endswith(';') and depth <= 0:
            return at
    return None


def python_docs(lines):
    for at, line in enumerate(lines):
        if not re.match(r'\s*(async\s+)?(def|class)\s', line):
            continue
        signature_end = at
        while signature_end < len(lines) and signature_end < at + 20 and not lines[signature_end].rstrip().endswith(':'):
            signature_end += 1
        doc = signature_end + 1
        if doc >= len(lines):
            continue
        opening = re.match(r'\s*[rRuU]?("""|\'\'\')', lines[doc])
        if not opening:
            continue
        end = doc
        if lines[doc].count(opening[1]) < 2:
            end += 1
            while end < len(lines) and opening[1] not in lines[end]:
                end += 1
        if end >= len(lines):
            continue
        last, own = end, indent_of(line)
        for further in range(end + 1, min(len(lines), end + 400)):
            if lines[further].strip():
                if indent_of(lines[further]) <= own:
                    break
                last = further
        text = re.split(r'\n\s*\n', '\n'.join(lines[doc:end + 1]))[0].replace(opening[1], ' ')
        yield doc, end, at, last, re.sub(r'^\s*[rRuU]\s', '', text)


def comment_docs(lines, lang):
    line_mark = {'rust': '///', 'go': '//'}.get(lang)
    at = 0
    while at < len(lines):
        start, end, text = at, None, None
        stripped = lines[at].strip()
        if line_mark and stripped.startswith(line_mark) and not stripped.startswith('////'):
            end = at
            while end + 1 < len(lines) and lines[end + 1].strip().startswith(line_mark):
                end += 1
            paragraph = []
            for l in lines[at:end + 1]:
                l = l.strip()[len(line_mark):].strip()
                if not l:
                    break
                paragraph.append(l)
            text = ' '.join(paragraph)
        elif stripped.startswith('/*') and lang not in ('rust', 'go') and at > 3:
            end = at
            while end < len(lines) and '*/' not in lines[end]:
                end += 1
            if end >= len(lines):
                return
            paragraph = []
            for l in lines[at:end + 1]:
                l = re.sub(r'^\s*/?\*+/?|\*/\s*$', '', l.strip()).strip()
                if (not l and paragraph) or l.startswith('@'):
                    break
                if l:
                    paragraph.append(l)
            text = ' '.join(paragraph)
        if end is None:
            at += 1
            continue
        first = end + 1
        while first < len(lines) and re.match(r'\s*(#\[|@\w|template\b)', lines[first]):
            first += 1
        if first < len(lines) and DEFINES[lang].match(lines[first]) and not re.match(r'\s*(if|for|while|switch|return|else)\b', lines[first]):
            last = block_end(lines, first)
            if last is not None:
                yield start, end, end + 1, last, text
        at = end + 1


def mine_docs(folder, repo, most):
    names = [n for n in git(folder, 'ls-tree', '-r', '--name-only', '-z', 'HEAD').decode('utf-8', 'replace').split('\0') if language(n) and not SKIP.search(n)]
    names.sort(key=lambda n: order(repo, n))
    cases = []
    for start in range(0, min(len(names), most * 8), 100):
        part = names[start:start + 100]
        for name, text in zip(part, blobs(folder, [f'HEAD:{n}' for n in part])):
            if not fits(text):
                continue
            lines, lang = text.split('\n'), language(name)
            found = list(python_docs(lines) if lang == 'python' else comment_docs(lines, lang))
            found = [f for f in found if 3 <= f[3] - f[2] + 1 - (f[1] - f[0] + 1 if f[2] <= f[0] <= f[3] else 0) <= 150 and sentence(f[4])]
            found.sort(key=lambda f: order(repo, name, str(f[0])))
            for doc, end, first, last, said in found[:3]:
                removed = end - doc + 1
                rest = lines[:doc] + lines[end + 1:]
                shift = lambda n: n if n < doc else n - removed
                gold = [shift(n) + 1 for n in range(first, last + 1) if not doc <= n <= end and lines[n].strip()]
                if gold and len(gold) <= len(rest) * .4:
                    cases.append({'id': f'{repo}:{name}:{first + 1}', 'repo': repo, 'lang': lang, 'query': sentence(said), 'text': '\n'.join(rest), 'gold': gold})
            if len(cases) >= most:
                return cases[:most]
    return cases


def mine_sections(folder, repo, most):
    names = [n for n in git(folder, 'ls-tree', '-r', '--name-only', '-z', 'HEAD').decode('utf-8', 'replace').split('\0') if n.lower().endswith(DOCUMENTS) and not SKIP.search(n)]
    names.sort(key=lambda n: order(repo, n))
    cases = []
    for start in range(0, len(names), 100):
        part = names[start:start + 100]
        for name, text in zip(part, blobs(folder, [f'HEAD:{n}' for n in part])):
            if not fits(text):
                continue
            lines, heads, fenced = text.split('\n'), [], False
            for n, l in enumerate(lines):
                if l.lstrip().startswith(('```', '~~~')):
                    fenced = not fenced
                if fenced:
                    continue
                m = re.match(r'(#{1,6})\s+(.+?)\s*#*\s*$', l)
                if m:
                    heads.append((n, len(m[1]), m[2], 1))
                elif name.endswith('.rst') and n + 1 < len(lines) and l.strip() and re.fullmatch(r'([=\-~^"\'*+#`])\1{2,}\s*', lines[n + 1]) and len(lines[n + 1].rstrip()) >= len(l.rstrip()):
                    heads.append((n, '=-~^"\'*+#`'.index(lines[n + 1][0]) + 1, l.strip(), 2))
            found = []
            for k, (n, level, title, size) in enumerate(heads):
                last = next((h[0] for h in heads[k + 1:] if h[1] <= level), len(lines)) - 1
                body = [x for x in range(n + size, last + 1) if lines[x].strip()]
                if len(re.findall(r'\w{3,}', title)) >= 2 and 3 <= len(body) <= 120 and len(body) <= len(lines) * .35:
                    found.append((n, size, title, body))
            found.sort(key=lambda f: order(repo, name, str(f[0])))
            for n, size, title, body in found[:2]:
                title = re.sub(r'[`*]|\[([^\]]*)\]\([^)]*\)', lambda m: m[1] or '', title)
                if int(order(repo, name, str(n), 'keep')[:2], 16) % 2:
                    cases.append({'id': f'{repo}:{name}:{n + 1}', 'repo': repo, 'lang': 'docs', 'query': title, 'text': text, 'gold': [b + 1 for b in body]})
                else:
                    rest = lines[:n] + lines[n + size:]
                    cases.append({'id': f'{repo}:{name}:{n + 1}-', 'repo': repo, 'lang': 'docs', 'query': title, 'text': '\n'.join(rest), 'gold': [b + 1 - size for b in body]})
            if len(cases) >= most:
                return cases[:most]
    return cases


def repo_name(folder):
    """owner/name of `owner+name` or `owner+name/repo`."""
    parts = os.path.abspath(folder).split(os.sep)
    return next((p.replace('+', '/', 1) for p in reversed(parts) if '+' in p), parts[-1])


def mine(job):
    folder, out, most = job
    repo = repo_name(folder)
    folder = os.path.join(folder, 'repo') if os.path.isdir(os.path.join(folder, 'repo')) else folder
    counts = []
    for kind, miner, share in (('commits', mine_commits, 1.0), ('docs', mine_docs, .6), ('sections', mine_sections, .15)):
        try:
            cases = miner(folder, repo, int(most * share))
        except subprocess.TimeoutExpired:
            cases = []
        with open(f'{out}/{kind}.{repo.replace("/", "+")}.jsonl', 'w', encoding='utf-8') as f:
            for case in cases:
                f.write(json.dumps(case, ensure_ascii=False) + '\n')
        counts.append(f'{len(cases)} {kind}')
    return f'{repo}: {", ".join(counts)}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--kept-out', action='append', default=[], metavar='FILE', help='skip the repositories that FILE lists')
    parser.add_argument('out')
    parser.add_argument('most', type=int)
    parser.add_argument('folders', nargs='+')
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    kept_out = KeptOut(args.kept_out)
    folders = kept_out.allowed(args.folders, repo_name)
    with multiprocessing.Pool(int(os.environ.get('PROCESSES', '2'))) as pool:
        for line in pool.imap_unordered(mine, [(f, args.out, args.most) for f in folders]):
            print(line, flush=True)
    print(kept_out.report())


if __name__ == '__main__':
    main()
