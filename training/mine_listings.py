#!/usr/bin/env python3
"""Makes training cases from listings of git repositories: what people and agents list, and must not lose an entry of.

A case is one line of JSON: {"id", "repo", "lang", "query", "text", "gold"}; `gold` holds 1-based line numbers of `text`, found
by rule, and `lang` the kind of case:

  every    search results of a name, in one of several forms; every match is wanted, and the file above grouped matches
  some     search results of two names; the matches of one are wanted
  folder   search results; the matches below one folder are wanted
  review   a commit's diff; changed lines, file and hunk headers are wanted
  in_file  a commit's diff; the same of one file
  where    a tree or list of files; one file and the folders that it is in
  files    a tree or list of files; all files of a sort
  recent   a history; hash, date and subject of the latest commits
  when     a history; the same of one commit
  author   a history; the same of every commit of one author
  lint     a linter's findings; those of one rule, and the file above grouped findings
  lint_in  a linter's findings; those of one file
  json     a JSON document; the lines of one key and of the keys that it is in

usage: mine_listings.py [--kept-out FILE]... OUT_FILE PER_KIND OWNER+NAME_FOLDER...

Findings come from `ruff` (RUFF names another program). Choices depend only on the repository's name, so a second run gives the
same cases.
"""
import argparse, collections, json, os, random, re, shutil, subprocess, tempfile

from kept_out import KeptOut
from mine_repositories import SKIP, repo_name

LEAST, MOST = 1_500, 150_000    # characters of a text
ASKED = {
    'every': ('Replace every call of {0}', 'List all uses of {0}', 'I need to rename {0} everywhere', 'How many places use {0}, and which files are they in?',
              'check each {0} call site', 'find all references to {0}', 'Remove {0} and update all callers', 'which files use {0}?',
              'I want to change the signature of {0}; show me everything that calls it', 'Is {0} used outside of tests? List each use.',
              'go through all the {0} usages one by one', 'every occurrence of {0}'),
    'some': ('Rename {0} in all the places where it is used', 'find all uses of {0}', 'List every line that mentions {0}', 'Replace {0} everywhere, but leave {1} alone',
             'all call sites of {0}', 'which places use {0}?', 'I only care about {0}: show each use', 'How often is {0} used?'),
    'folder': ('all uses of {0} in {1}', 'Which files below {1} use {0}?', 'Replace every {0} in {1}', 'list the {0} matches under {1}', 'Does {1} use {0}, and where exactly?'),
    'review': ('Review this change', 'Please check this diff for mistakes', 'Write a commit message for this diff', 'what does this patch do?', 'Summarise the changes',
               'Is anything wrong with this commit?', 'code review', 'Look for bugs in this diff', 'describe every change that was made here', 'explain this commit to me'),
    'in_file': ('What changed in {0}?', 'Show me the changes to {0}', 'review the part of the diff that touches {0}', 'what did this commit do to {0}', 'the diff of {0} only', 'How was {0} modified?'),
    'where': ('find the file {0}', 'In which folder is {0}?', 'where does {0} live', 'Where is {0}?', 'path of {0}', 'locate {0}', 'Is there a {0} in this project, and where?', 'I need to open {0}'),
    'files': ('list all {0} files', 'Which {0} files are there?', 'every {0} file', 'How many {0} files does this project have? Name each.', 'show me all the {0} files', 'find each {0} file'),
    'recent': ('What changed most recently?', 'show me the latest five commits', 'what was done last', 'The last few commits', 'what are the newest changes', 'What happened lately in this repository?'),
    'when': ('When was this done, and in which commit: {0}', 'Which commit did this: {0}', 'find the commit "{0}"', 'who made the change "{0}" and when', 'Hash and date of the commit about: {0}'),
    'author': ('What did {0} change?', 'List all commits by {0}', 'every commit of {0}', 'Which changes did {0} make?', "show me {0}'s commits"),
    'lint': ('Fix all the {0} findings', 'List every {0} violation', 'How many {0} errors are there, and where?', 'go through each {0} warning', 'Where does the linter report {0}?', 'which files have {0} problems'),
    'lint_in': ('Fix the lint errors in {0}', 'What does the linter say about {0}?', 'all findings in {0}', 'clean up {0}: show each warning', 'Which problems does {0} have?'),
    'json': ('What is the value of {0}?', 'where is {0} set', 'I want to change {0}', 'Show me the setting {0}', 'which {0} is configured here?', 'look up {0}'),
}
SAID = ('', '', 'Let me look.', 'Let me check that.', "I'll search for it.", 'First I need an overview.', "Now let me see what there is.", 'Good. Next:')
SORTS = (('test', r'(^|[/_.-])tests?([/_.-]|$)|_test\.|\.spec\.|Test\.java'), ('Markdown', r'\.md$'), ('YAML', r'\.ya?ml$'), ('header', r'\.(h|hpp)$'),
         ('JSON', r'\.json$'), ('shell script', r'\.sh$'), ('configuration', r'(^|/)[^/]*(config|rc|settings)[^/]*\.(js|ts|json|toml|ya?ml|ini|cfg)$|\.(toml|ini|cfg)$'))


def git(repo, *arguments):
    done = subprocess.run(['git', '-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false', '--git-dir=' + repo, *arguments], capture_output=True, timeout=300)
    return done.stdout.decode('utf-8', 'replace').rstrip('\n')


class Miner:
    """The cases of one repository."""

    def __init__(self, folder, most):
        self.repo = repo_name(folder)
        self.git = os.path.join(folder, 'repo') if os.path.isdir(os.path.join(folder, 'repo')) else folder
        self.most, self.random, self.cases, self.count = most, random.Random(self.repo), [], collections.Counter()

    def add(self, kind, command, text, gold, *words):
        if not gold or not LEAST <= len(text) <= MOST or self.count[kind] >= self.most:
            return
        query = ASKED[kind][self.random.randrange(len(ASKED[kind]))].format(*words)
        if self.random.random() < .35:      # as a coding agent's hook would word it
            query = f'{self.random.choice(SAID)} {command} Task: {query}'.strip()
        self.count[kind] += 1
        self.cases.append({'id': f'{self.repo}:{kind}:{len(self.cases)}', 'repo': self.repo, 'lang': kind, 'query': query, 'text': text, 'gold': sorted(set(gold))})

    def matches(self, *names):
        """(command, text, [(line of the text, path, matched text or '' of a header)]) of a search, in one of several forms."""
        form = self.random.choice(('plain', 'plain', 'plain', 'heading', 'context', 'files'))
        options = {'plain': ['-n'], 'heading': ['-n', '--heading', '--break'], 'context': ['-n', '-C2'], 'files': []}[form]
        patterns = [part for name in names for part in ('-e', name)]
        raw = git(self.git, 'grep', '-wF', '-I', *options, *patterns, 'HEAD')
        found, lines, path = [], [], ''
        word = re.compile('|'.join(rf'(?<!\w){re.escape(n)}(?!\w)' for n in names))
        for number, line in enumerate(raw.split('\n'), 1):
            line = line.removeprefix('HEAD:')
            lines.append(line)
            if form == 'heading':
                match = re.match(r'\d+:(.*)', line)
                if match:
                    found.append((number, path, match[1]))
                elif line and not re.match(r'\d+-', line):
                    path = line
                    found.append((number, path, ''))
            else:
                match = re.match(r'([^:]+):\d+:(.*)' if form != 'files' else r'([^:]+):(.*)', line)
                if match and word.search(match[2]):
                    found.append((number, match[1], match[2]))
        command = {'plain': 'rg -n', 'heading': 'rg', 'context': 'grep -rn -C2', 'files': 'grep -r'}[form] + ' ' + ('|'.join(names) if len(names) > 1 else names[0])
        return command, '\n'.join(lines), found

    def searches(self):
        names = re.findall(r'\w+$', git(self.git, 'grep', '-hoE', r'(fn|def|func|function|class|struct|interface) +[A-Za-z_][A-Za-z_0-9]{5,}', 'HEAD'), re.M)
        names = sorted(set(names))
        self.random.shuffle(names)
        counted = []
        for name in names[:200]:
            if len(counted) > 3 * self.most:
                break
            if 15 <= git(self.git, 'grep', '-wFI', '-e', name, 'HEAD').count('\n') <= 400:
                counted.append(name)
        for name, other in zip(counted, counted[1:] + counted[:1]):
            if self.count['every'] < self.most:
                command, text, found = self.matches(name)
                self.add('every', command, text, [n for n, _, _ in found], name)
            if self.count['some'] < self.most and name != other:
                command, text, found = self.matches(name, other)
                wanted = [f for f in found if re.search(rf'(?<!\w){re.escape(name)}(?!\w)', f[2])]
                paths = {f[1] for f in wanted}
                self.add('some', command, text, [n for n, _, _ in wanted] + [n for n, path, matched in found if not matched and path in paths], name, other)
            if self.count['folder'] < self.most:
                command, text, found = self.matches(name)
                folders = sorted({path.rsplit('/', 1)[0] for _, path, _ in found if '/' in path})
                if len(folders) > 2:
                    folder = self.random.choice(folders)
                    self.add('folder', command, text, [n for n, path, _ in found if path.startswith(folder + '/')], name, folder)

    def diffs(self):
        commits = git(self.git, 'log', '--no-merges', '-n', '1500', '--format=%H', 'HEAD').split('\n')
        self.random.shuffle(commits)
        for commit in commits[:60 * self.most]:
            if min(self.count['review'], self.count['in_file']) >= self.most:
                break
            head = self.random.random() < .4
            text = git(self.git, 'show', *(['--stat', '--patch'] if head and self.random.random() < .4 else []), *([] if head else ['--format=']), commit).strip('\n')
            lines = text.split('\n')
            starts = [n for n, line in enumerate(lines, 1) if line.startswith('diff --git')]
            if not 1 <= len(starts) <= 14 or not 50 <= len(lines) <= 1500 or '\nBinary' in text:
                continue

            def wanted(low, high):
                return [n for n in range(low, high) if lines[n - 1].startswith(('diff --git', '@@'))
                        or (lines[n - 1][:1] in ('+', '-') and lines[n - 1][1:].strip() and not lines[n - 1].startswith(('+++', '---')))]
            about = [n for n in range(1, starts[0]) if lines[n - 1].strip()] if head else []
            if self.count['review'] <= self.count['in_file'] or len(starts) < 3:
                self.add('review', f'git show {commit[:9]}', text, about + wanted(starts[0], len(lines) + 1))
            else:
                at = self.random.randrange(len(starts))
                path = re.match(r'diff --git a/(\S+)', lines[starts[at] - 1])
                if path:
                    name = path[1] if self.random.random() < .3 else os.path.basename(path[1])
                    self.add('in_file', f'git show {commit[:9]}', text, wanted(starts[at], (starts + [len(lines) + 1])[at + 1]), name)

    def trees(self, folder):
        """Lists of files in four forms: (command, text, [(line, path, lines of its folders)])."""
        paths = git(self.git, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')
        tops = sorted({p.split('/', 1)[0] for p in paths if '/' in p and not p.startswith('.')})
        self.random.shuffle(tops)
        for top in tops[:8] + ['']:
            below = [p for p in paths if not top or p.startswith(top + '/')]
            if not 30 <= len(below) <= 2500:
                continue
            form = self.random.choice(('ls', 'find', 'tree', 'files'))
            entries, lines = [], []
            if form == 'files':
                command, lines, entries = f'git ls-files {top}'.strip(), below, [(n, p, []) for n, p in enumerate(below, 1)]
            elif form == 'find':
                mixed = below[:]
                self.random.shuffle(mixed)
                mixed.sort(key=lambda p: os.path.dirname(p))
                command, lines, entries = f'find {top or "."} -type f', ['./' + p if not top else p for p in mixed], [(n, p, []) for n, p in enumerate(mixed, 1)]
            elif form == 'tree':
                command, lines, parents = f'tree {top or "."}', [top or '.'], {}
                depth = 1 if top else 0
                for path in below:
                    parts = path.split('/')
                    for level in range(depth, len(parts) - 1):
                        key = '/'.join(parts[:level + 1])
                        if key not in parents:
                            lines.append('│   ' * (level - depth) + '├── ' + parts[level])
                            parents[key] = len(lines)
                    lines.append('│   ' * (len(parts) - 1 - depth) + '├── ' + parts[-1])
                    entries.append((len(lines), path, [parents['/'.join(parts[:level + 1])] for level in range(depth, len(parts) - 1)]))
            elif os.path.isdir(os.path.join(folder, top)):
                command = f'ls -lR {top}'.strip()
                listed = subprocess.run(['ls', '-lR', top or '.'], cwd=folder, capture_output=True).stdout.decode('utf-8', 'replace').rstrip('\n')
                lines, at, header = listed.split('\n'), '', 0
                for number, line in enumerate(lines, 1):
                    if line.endswith(':') and (number == 1 or not lines[number - 2]):
                        at, header = line[:-1], number
                    elif line.startswith('-'):
                        entries.append((number, f'{at}/{line.split()[-1]}', [header]))
            text = '\n'.join(lines)
            names = collections.Counter(os.path.basename(p) for _, p, _ in entries)
            alone = [e for e in entries if names[os.path.basename(e[1])] == 1]
            for number, path, above in self.random.sample(alone, min(2, len(alone))):
                self.add('where', command, text, above + [number], os.path.basename(path))
            sorts = [(sort, [e for e in entries if re.search(pattern, e[1])]) for sort, pattern in SORTS]
            sorts = [(sort, found) for sort, found in sorts if 2 <= len(found) <= .5 * len(entries)]
            if sorts:
                sort, found = self.random.choice(sorts)
                self.add('files', command, text, [n for number, _, above in found for n in above + [number]], sort)

    def histories(self):
        skip = 0
        for most in (30, 60, 100, 160, 240):
            form = self.random.choice(('full', 'full', 'oneline', 'short', 'stat'))
            options = {'full': ['--date=iso'], 'oneline': ['--oneline', '--no-decorate'], 'short': ['--date=short', '--format=%h %ad %an %s'], 'stat': ['--stat', '--date=iso']}[form]
            most = most // 3 if form == 'stat' else most
            text = git(self.git, 'log', '-n', str(most), '--skip', str(skip), *options, 'HEAD')
            authors = git(self.git, 'log', '-n', str(most), '--skip', str(skip), '--format=%an', 'HEAD').split('\n')
            lines, skip = text.split('\n'), skip + most
            long = form in ('full', 'stat')
            starts = [n for n, line in enumerate(lines, 1) if not long or re.match(r'commit [0-9a-f]{40}', line)]
            if len(starts) < 10 or len(starts) != len(authors):
                continue

            def head(at):
                low, high = starts[at], (starts + [len(lines) + 1])[at + 1]
                if not long:
                    return [low], lines[low - 1].split(' ', 1 if form == 'oneline' else 2)[-1]
                dates = [n for n in range(low, high) if lines[n - 1].startswith(('Date:', 'Author:'))]
                subject = [n for n in range(low, high) if lines[n - 1].startswith('    ')][:1]
                return [low] + dates + subject, lines[subject[0] - 1].strip() if subject else ''
            command = 'git log ' + ' '.join(options) + f' -{most}'
            self.add('recent', command, text, [n for at in range(5) for n in head(at)[0]])
            for at in self.random.sample(range(len(starts)), 2):
                gold, subject = head(at)
                subject = re.sub(r'^\S+ ', '', subject) if form == 'short' else subject
                if len(subject.split()) >= 4 and text.count(subject) == 1:
                    self.add('when', command, text, gold, subject[:90])
            common = [name for name, n in collections.Counter(authors).items() if 2 <= n <= .4 * len(starts) and len(name) > 3]
            if common and form != 'oneline':
                name = self.random.choice(sorted(common))
                self.add('author', command, text, [n for at, author in enumerate(authors) if author == name for n in head(at)[0]], name)

    def findings(self, folder):
        program = os.environ.get('RUFF', 'ruff')
        if not shutil.which(program):
            return
        if len([p for p in git(self.git, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n') if p.endswith('.py')]) < 10:
            return
        raw = subprocess.run([program, 'check', '--isolated', '--no-cache', '--exit-zero', '--select', 'F,E7,UP,B,SIM,PLR,D1,ANN', '--output-format', 'json', '.'], cwd=folder, capture_output=True, text=True).stdout
        try:
            rows = [r for r in json.loads(raw) if r.get('code')]
        except ValueError:
            return
        by_code = collections.Counter(r['code'] for r in rows)
        spare = {c: 60 for c in by_code}    # no rule may fill a whole list
        rows = [r for r in rows if spare.__setitem__(r['code'], spare[r['code']] - 1) is None and spare[r['code']] >= 0]
        rows.sort(key=lambda r: (r['filename'], r['location']['row']))
        for part in range(0, min(len(rows), 2400), 400):
            form, lines, found, path = self.random.choice(('concise', 'grouped', 'gcc', 'github')), [], [], None
            for row in rows[part:part + 400]:
                name, at = os.path.relpath(row['filename'], os.path.realpath(folder)), row['location']
                if form == 'grouped':
                    if name != path:
                        lines += ([''] if lines else []) + [name]
                        header, path = len(lines), name
                    lines.append(f'  {at["row"]}:{at["column"]}  error  {row["message"]}  {row["code"]}')
                    found.append((len(lines), name, row['code'], [header]))
                else:
                    lines.append({'concise': f'{name}:{at["row"]}:{at["column"]}: {row["code"]} {row["message"]}',
                                  'gcc': f'{name}:{at["row"]}:{at["column"]}: warning: {row["message"]} [{row["code"]}]',
                                  'github': f'::error file={name},line={at["row"]},col={at["column"]},title={row["code"]}::{row["message"]}'}[form])
                    found.append((len(lines), name, row['code'], []))
            text = '\n'.join(lines)
            codes = sorted(c for c, n in collections.Counter(f[2] for f in found).items() if 3 <= n <= .6 * len(found))
            paths = sorted(p for p, n in collections.Counter(f[1] for f in found).items() if 2 <= n <= .4 * len(found))
            for code in self.random.sample(codes, min(2, len(codes))):
                self.add('lint', 'ruff check .', text, [n for number, _, c, above in found if c == code for n in above + [number]], code)
            for path in self.random.sample(paths, min(2, len(paths))):
                self.add('lint_in', 'ruff check .', text, [n for number, p, _, above in found if p == path for n in above + [number]], path if self.random.random() < .5 else os.path.basename(path))

    def documents(self):
        paths = [p for p in git(self.git, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n') if p.endswith('.json') and not SKIP.search(p)]
        self.random.shuffle(paths)
        for path in paths[:40]:
            text = git(self.git, 'show', 'HEAD:' + path)
            lines = text.split('\n')
            if not 60 <= len(lines) <= 3000:
                continue
            keys, open_ = [], []
            for number, line in enumerate(lines, 1):
                match = re.match(r'(\s*)"([^"\\]+)"\s*:\s*(.*)', line)
                indent = len(line) - len(line.lstrip())
                while open_ and line.strip() and open_[-1][0] >= indent:
                    open_.pop()
                if match:
                    end = number
                    if match[3].rstrip().endswith(('{', '[')):
                        end = next((n for n in range(number + 1, min(number + 30, len(lines) + 1)) if len(lines[n - 1]) - len(lines[n - 1].lstrip()) <= indent and lines[n - 1].strip()), None)
                        if end is None:
                            open_.append((indent, number))
                            continue
                    keys.append((match[2], [n for _, n in open_] + list(range(number, end + 1))))
                    if match[3].rstrip().endswith(('{', '[')):
                        open_.append((indent, number))
            names = collections.Counter(k for k, _ in keys)
            alone = [k for k in keys if names[k[0]] == 1 and len(k[0]) > 3 and len(k[1]) < .3 * len(lines)]
            if alone:
                key, gold = self.random.choice(alone)
                self.add('json', f'cat {path}', text, gold, key)

    def mine(self):
        self.searches()
        self.diffs()
        self.histories()
        self.documents()
        with tempfile.TemporaryDirectory() as folder:
            archive = subprocess.Popen(['git', '--git-dir=' + self.git, 'archive', 'HEAD'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            subprocess.run(['tar', 'x', '-C', folder], stdin=archive.stdout, stderr=subprocess.DEVNULL, check=False)
            archive.wait()
            self.trees(folder)
            self.findings(folder)
        return self.cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--kept-out', action='append', default=[], metavar='FILE', help='skip the repositories that FILE lists')
    parser.add_argument('out')
    parser.add_argument('most', type=int)
    parser.add_argument('folders', nargs='+')
    args = parser.parse_args()
    kept_out, total = KeptOut(args.kept_out), collections.Counter()
    with open(args.out, 'w', encoding='utf-8') as out:
        for folder in kept_out.allowed(args.folders, repo_name):
            miner = Miner(folder, args.most)
            for case in miner.mine():
                out.write(json.dumps(case, ensure_ascii=False) + '\n')
            out.flush()
            total.update(miner.count)
            print(f'{miner.repo}: {dict(miner.count)}', flush=True)
    print(sum(total.values()), dict(total))
    print(kept_out.report())


if __name__ == '__main__':
    main()
