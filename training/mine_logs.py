#!/usr/bin/env python3
"""Makes training cases from the output of builds and tests: each project is broken in one place and run again.

A case is one line of JSON: {"id", "repo", "lang", "query", "text", "gold", "also"}; `gold` and `also` hold 1-based line numbers.
Lines that the run of the unbroken project does not have, apart from numbers, come from the break: `gold` are those that report
it (the error, the failed test, the summary), `also` the rest of them and further reports of the same form, which count neither
as needed nor as unneeded.

usage: mine_logs.py [--kept-out FILE]... OUT_FILE PER_PROJECT RECIPES.tsv MIRRORS_FOLDER

A recipe is a line with tabs: owner/name, a command that prepares a checkout, a command that builds or tests it, and a regular
expression of the files that may be broken. The recipes run programs of those projects: read them first. Choices depend only on
the project's name.
"""
import argparse, collections, json, os, random, re, shutil, signal, subprocess, tempfile

from kept_out import KeptOut

LIMIT = 240     # seconds of one run
REPORT = re.compile(
    r'^E   |^FAILED |^ERROR\b|\bFAILED\b|^FAIL\b|^_{3,} .+ _{3,}$|^(\S+:\d+: )?\w*(Error|Exception|Warning)\b|^[\w./-]+:\d+(:\d+)?: (fatal )?(error|\w*Error)'
    r'|: (fatal )?error:|undefined reference|\*\*\* .*Error|^error(\[E\d+\])?:|^ *--> |panicked at|assertion .*failed|^ +(left|right): |test result: FAILED|^---- .+ ----$'
    r'|●|✕|✖|^not ok|AssertionError|^ +(Expected|Received|expected|actual)\b.*:|\d+ (failing|failed)|^\s+\d+\) |Segmentation fault|Aborted|[Tt]imed? ?out|\bfailed\b', re.M)
TOTAL = re.compile(r'^=+ .*(failed|error).* =+$|test result: FAILED|\d+ failing|^Tests: +\d+ failed|^# fail [1-9]|\*\*\* .*Error')
ASKED = ('Why does the build fail?', 'Fix the failing tests', 'Which tests failed?', 'What is the error?', 'run the tests and fix what is broken', 'Did everything pass?',
         'The build is broken, find out why', 'make the tests pass again', 'check that my change did not break anything', 'Find the cause of the failure', 'is CI green?')
SAID = ('', 'Let me run the tests.', "Now let's build it.", "I'll check whether it still works.", 'Running the whole suite.', 'Let me verify the change.')
CHANGES = {      # how a line is broken; the text that results, or None where it does not apply
    'compare': lambda r, l: re.sub(r'==', '!=', l, count=1) if '==' in l else re.sub(r' < ', ' > ', l, count=1) if ' < ' in l else None,
    'sign': lambda r, l: re.sub(r' \+ ', ' - ', l, count=1) if ' + ' in l else re.sub(r' - ', ' + ', l, count=1) if ' - ' in l else None,
    'truth': lambda r, l: re.sub(r'\b(true|True)\b', lambda m: 'False' if m[0] == 'True' else 'false', l, count=1) if re.search(r'\b(true|True)\b', l) else None,
    'name': lambda r, l: re.sub(r'\b([a-z_]{5,})\b(?=[.(\[])', lambda m: m[0] + 'x', l, count=1) if re.search(r'\b[a-z_]{5,}[.(\[]', l) else None,
    'number': lambda r, l: re.sub(r'(?<![\w.])([1-9])(?![\w.])', lambda m: str(int(m[0]) + 1), l, count=1) if re.search(r'(?<![\w.])[1-9](?![\w.])', l) else None,
    'lost': lambda r, l: l[:-2] + l[-1:] if re.search(r'[;)\]]\n$', l) else None,
    'text': lambda r, l: re.sub(r'(["\'])(\w{4,})\1', lambda m: m[1] + m[2][:-1] + m[1], l, count=1) if re.search(r'(["\'])\w{4,}\1', l) else None,
}


def run(command, folder):
    """The output of a shell command, or None when it took too long."""
    child = subprocess.Popen(['bash', '-c', command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                             env={**os.environ, 'CI': '1', 'PYTHONDONTWRITEBYTECODE': '1'})
    try:
        out = child.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return None, 1
    return out.decode('utf-8', 'replace').replace(folder, '/home/dev/project').rstrip('\n')[:300_000], child.returncode


def bare(line):
    return re.sub(r'0x[0-9a-f]+|\d+', '0', re.sub(r'\x1b\[[0-9;]*m', '', line)).strip()


def shown(command):
    """A command as a person would type it: without variables, paths of programs and what comes before."""
    command = re.split(r'&&|;', command)[-1].replace('2>&1', '')
    return re.sub(r'\b[A-Z]+=\S+ |(?<!\S)\S+/bin/', '', command).strip()[:120]


def labels(clean, broken):
    """(gold, also) of the broken run."""
    known = collections.Counter(bare(l) for l in clean.split('\n'))
    gold, also, forms = [], [], collections.Counter()
    for number, line in enumerate(broken.split('\n'), 1):
        form = bare(line)
        if not form or known[form] > 0:
            known[form] -= form != ''
            continue
        if TOTAL.search(form):
            gold.append(number)
        elif REPORT.search(re.sub(r'\x1b\[[0-9;]*m', '', line)):
            shape = re.sub(r'[\w./:-]+', 'w', re.sub(r'\[.*?\]|".*"|\'.*\'', '', form))[:60]
            forms[shape] += 1
            (gold if forms[shape] <= 4 and len(gold) < 30 else also).append(number)
        else:
            also.append(number)
    return gold, also


def mine(repo, prepare, command, pattern, mirror, most):
    chance, cases = random.Random(repo), []
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, repo.split('/')[1])
        os.makedirs(folder)
        archive = subprocess.Popen(['git', '--git-dir=' + mirror, 'archive', 'HEAD'], stdout=subprocess.PIPE)
        subprocess.run(['tar', 'x', '-C', folder], stdin=archive.stdout, check=False)
        archive.wait()
        text, code = run(prepare, folder) if prepare else ('', 0)
        if code != 0:
            return cases, f'not prepared: {(text or "too slow")[-200:]}'
        clean, code = run(command, folder)
        if clean is None or clean.count('\n') < 20:
            return cases, f'unbroken run: {code} {(clean or "too slow")[-200:]}'
        files = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)
        files = [f for f in files if re.search(pattern, f) and os.path.getsize(os.path.join(folder, f)) > 1500]
        for _ in range(4 * most):
            if len(cases) >= most or not files:
                break
            name, kind = chance.choice(files), chance.choice(sorted(CHANGES))
            path = os.path.join(folder, name)
            with open(path, encoding='utf-8', errors='surrogateescape') as file:
                lines = file.readlines()
            able = [n for n, l in enumerate(lines) if not l.lstrip().startswith(('#', '//', '*', '/*', 'import', 'from', '"""')) and CHANGES[kind](chance, l)]
            if not able:
                continue
            at = chance.choice(able)
            changed = lines[:at] + [CHANGES[kind](chance, lines[at])] + lines[at + 1:]
            shutil.copy2(path, path + '.kept')
            with open(path, 'w', encoding='utf-8', errors='surrogateescape') as file:
                file.writelines(changed)
            broken, code = run(command, folder)
            shutil.move(path + '.kept', path)
            os.utime(path)
            if broken is None or code == 0 or broken.count('\n') < 25:
                continue
            gold, also = labels(clean, broken)
            if not gold or len(gold) > .4 * broken.count('\n') or (len(also) > .6 * broken.count('\n') and chance.random() < .7):
                continue
            query = chance.choice(ASKED)
            if chance.random() < .6:
                query = f'{chance.choice(SAID)} {shown(command)} Task: {query}'.strip()
            cases.append({'id': f'{repo}:{name}:{at + 1}:{kind}', 'repo': repo, 'lang': 'log', 'query': query, 'text': broken, 'gold': gold, 'also': also})
    return cases, ''


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--kept-out', action='append', default=[], metavar='FILE', help='skip the repositories that FILE lists')
    parser.add_argument('out')
    parser.add_argument('most', type=int)
    parser.add_argument('recipes')
    parser.add_argument('mirrors')
    args = parser.parse_args()
    kept_out = KeptOut(args.kept_out)
    with open(args.recipes, encoding='utf-8') as lines:
        recipes = [line.rstrip('\n').split('\t') for line in lines if line.strip() and not line.startswith('#')]
    with open(args.out, 'w', encoding='utf-8') as out:
        for repo, prepare, command, pattern in kept_out.allowed(recipes, lambda recipe: recipe[0]):
            cases, trouble = mine(repo, prepare, command, pattern, f'{args.mirrors}/{repo.replace("/", "+")}/repo', args.most)
            for case in cases:
                out.write(json.dumps(case, ensure_ascii=False) + '\n')
            out.flush()
            print(f'{repo}: {len(cases)} logs {trouble}', flush=True)
    print(kept_out.report())


if __name__ == '__main__':
    main()
