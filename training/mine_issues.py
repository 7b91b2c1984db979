#!/usr/bin/env python3
"""Makes cases of issues, for tests: the text of an issue, a file before its fix, and the lines that the fix changed.

usage: mine_issues.py TASKS MIRRORS OUT.jsonl SKIPPED.txt

TASKS is a git directory of SWE-bench Multilingual's tasks (github.com/SWE-bench/swe-bench-multilingual-tasks), MIRRORS a folder of
git directories `owner+name/repo`, SKIPPED.txt a list of repositories to leave out: those that gave cases to training.
"""
import collections, json, os, re, subprocess, sys

LINES, CHARS, NEEDED_SHARE, QUERY_CHARS = (60, 8000), 300_000, .4, 6000
OTHER_FILES = re.compile(r'(^|/)(tests?|spec|docs?|changelog|__tests__)(/|\.|$)|\.(md|txt|json|lock|toml|yml)$|_test\.', re.I)


def git(folder, *args):
    return subprocess.run(['git', '--git-dir', folder, *args], capture_output=True)


def changed_lines(patch):
    """Lines of the old file that a patch removes, or adds something after."""
    found = set()
    for start, body in re.findall(r'^@@ -(\d+)[^\n]*@@[^\n]*\n(.*?)(?=^@@|\Z)', patch, re.M | re.S):
        at = int(start)
        for line in body.split('\n'):
            if line[:1] == '+':
                found.add(max(1, at - 1))
            elif line[:1] in ('-', ' '):
                found.update([at] if line[0] == '-' else [])
                at += 1
    return found


def cases(tasks, name, folder, repo, commit):
    show = lambda part: git(tasks, 'show', f'HEAD:{name}/{part}').stdout.decode('utf-8', 'replace')
    query = re.sub(r'<!--.*?-->', '', show('problem_statement.md'), flags=re.S).strip()[:QUERY_CHARS]
    for patch in re.split(r'^diff --git ', show('gold.patch'), flags=re.M)[1:]:
        path = re.search(r'^--- a/(\S+)', patch, re.M)
        if not path or OTHER_FILES.search(path[1]):
            continue
        file = git(folder, 'show', f'{commit}:{path[1]}')
        text = file.stdout.decode('utf-8', 'replace')
        lines = text.count('\n') + 1
        gold = sorted(line for line in changed_lines(patch) if line <= lines)
        if file.returncode == 0 and LINES[0] <= lines <= LINES[1] and len(text) < CHARS and 0 < len(gold) <= NEEDED_SHARE * lines:
            yield {'id': f'{name[6:]}:{path[1]}', 'repo': repo, 'kind': 'issue', 'lang': path[1].rsplit('.')[-1], 'query': query, 'text': text, 'gold': gold}


def main():
    tasks, mirrors, out, skipped = sys.argv[1:5]
    skip = {line.strip().lower() for line in open(skipped, encoding='utf-8')}
    folders = {name.replace('+', '/', 1).lower(): f'{mirrors}/{name}/repo' for name in os.listdir(mirrors)}
    count, left_out = collections.Counter(), collections.Counter()
    with open(out, 'w', encoding='utf-8') as file:
        for name in git(tasks, 'ls-tree', '--name-only', 'HEAD', 'tasks/').stdout.decode().split():
            task = git(tasks, 'show', f'HEAD:{name}/task.yaml').stdout.decode()
            repo, commit = (re.search(rf'^{key}: (\S+)', task, re.M)[1].lower() for key in ('repo', 'base_commit'))
            if repo in skip or repo not in folders:
                left_out[repo] += 1
                continue
            for case in cases(tasks, name, folders[repo], repo, commit):
                file.write(json.dumps(case, ensure_ascii=False) + '\n')
                count[repo] += 1
    print(sum(count.values()), 'cases', dict(count), 'left out', dict(left_out))


if __name__ == '__main__':
    main()
