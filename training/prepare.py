#!/usr/bin/env python3
"""Computes the features of files of cases, with the product's own Rust code.

usage: prepare.py FEATURES_PROGRAM OUT_FOLDER CASES.jsonl[.xz]...

FEATURES_PROGRAM is the example `features` of crates/prune. Each file of cases becomes shards OUT_FOLDER/NAME.K.npz, one
for each core, and OUT_FOLDER/NAME.repos, the repository of each case in the order of the shards. Some commits are reworded
as a coding agent would ask (`as_an_agent`), because most goals will be worded like that.
"""
import hashlib, json, lzma, multiprocessing, os, subprocess, sys
import numpy as np

OPENINGS = (
    'Let me look at the current implementation.', "Let me check {stem} to see how it works.", "Now let me read {name}.",
    "I'll start by looking at {name}.", 'Let me understand the existing code first.', "Let me see where this is handled.",
    '', '', "Good. Now the other file:", "Let me look at the relevant code in {name}.", "Now I need to update {stem}.",
    "Let me look at the failing part.", "I see the problem. Let me view the file.", "Let me find where {word} is used.",
)


def chance(*parts):
    """A pseudo-random number in 0 .. 1 that depends only on its arguments."""
    return int(hashlib.sha256('\0'.join(parts).encode()).hexdigest()[:8], 16) / 0x100000000


def as_an_agent(case):
    """The same case as a coding agent would ask: what it says, a path, the user's task."""
    path = case['id'].split(':', 1)[1]
    name = path.rsplit('/', 1)[-1]
    words = [w for w in case['query'].split() if len(w) > 5] or ['this']
    pick = lambda what, options: options[int(chance(case['id'], what) * len(options))]
    said = pick('opening', OPENINGS).format(name=name, stem=name.rsplit('.', 1)[0], word=pick('word', words))
    home = pick('home', ('/home/dev/', '/Users/sam/src/', '/workspace/', '/Users/lee/work/code/', ''))
    task = case['query'] if chance(case['id'], 'long') < .5 else case['query'].split('\n')[0]
    if task[:1].isupper() and chance(case['id'], 'lower') < .5:
        task = task[0].lower() + task[1:]
    return {**case, 'query': f'{said} {home}{case["repo"].split("/")[-1]}/{path} Task: {task}'.strip()}


def read(path):
    """The cases of a file. Of commits, a third is reworded, and a fifth of the rest keeps only its headline."""
    open_ = lzma.open if path.endswith('.xz') else open
    with open_(path, 'rt', encoding='utf-8') as lines:
        cases = [json.loads(line) for line in lines]
    if 'commits' in os.path.basename(path) and not os.path.basename(path).startswith('dev'):
        for number, case in enumerate(cases):
            draw = chance(case['id'], 'style')
            if draw < .33:
                cases[number] = as_an_agent(case)
            elif draw < .45:
                cases[number] = {**case, 'query': case['query'].split('\n')[0]}
    return cases


def blocks(path, columns):
    """The cases that FEATURES_PROGRAM wrote."""
    raw, at = np.fromfile(path, np.uint8), 0

    def take(kind, count):
        nonlocal at
        size = np.dtype(kind).itemsize * count
        part, at = raw[at:at + size], at + size
        return np.frombuffer(part.tobytes(), kind)
    while at < len(raw):
        _, lines, kind = (int(v) for v in take('<u4', 3))
        gold, protected, width = take('u1', lines), take('u1', lines), take('<u2', lines)
        units = take('<u4', 3 * lines).reshape(3, lines)
        x = take('<f4', columns * lines).reshape(columns, lines).T
        yield kind, np.vstack([gold, protected, width, units]).astype(np.int32), np.clip(x, -6e4, 6e4).astype(np.float16)


def shard(job):
    program, out, cases = job
    with subprocess.Popen([program, out], stdin=subprocess.PIPE) as child:
        for case in cases:
            child.stdin.write(json.dumps({k: case[k] for k in ('query', 'text', 'gold', 'also', 'context') if k in case}).encode() + b'\n')
        child.stdin.close()
        if child.wait() != 0:
            raise SystemExit(f'{program} failed on {out}')
    columns = len(open(f'{out}.names').read().split('\n'))
    kinds, flat, x = zip(*blocks(f'{out}.bin', columns)) if cases else ((), (), ())
    os.remove(f'{out}.bin')
    if cases:
        np.savez(f'{out}.npz', kinds=np.array(kinds), lengths=np.array([len(v) for v in x]), flat=np.concatenate(flat, 1), x=np.concatenate(x))


def main():
    program, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(out, exist_ok=True)
    shards = os.cpu_count() or 1
    with multiprocessing.Pool(shards) as pool:
        for path in files:
            name = os.path.basename(path).split('.')[0]
            cases = read(path)
            parts = [cases[k::shards] for k in range(shards)]
            with open(f'{out}/{name}.repos', 'w', encoding='utf-8') as f:
                f.writelines(case['repo'] + '\n' for part in parts for case in part)
            pool.map(shard, [(program, f'{out}/{name}.{k}', part) for k, part in enumerate(parts)], chunksize=1)
            print(name, len(cases), 'cases', flush=True)


if __name__ == '__main__':
    main()
