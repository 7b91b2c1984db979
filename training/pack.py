#!/usr/bin/env python3
"""Packs all files of cases into one small archive, to take them to the machine with the GPU, and unpacks them there.

usage: pack.py pack ARCHIVE.xz CASES.jsonl[.xz]...
       pack.py unpack OUT_FOLDER ARCHIVE.xz...

Most texts are versions of the same files: sorted by repository and file, so that a version follows another, the archive has a
tenth of their size. That is less than their features take: the features are computed where the network is trained.
Needs the program `xz` to pack.
"""
import argparse, collections, json, lzma, os, subprocess


def read(path):
    name = os.path.basename(path).split('.')[0]
    with (lzma.open if path.endswith('.xz') else open)(path, 'rt', encoding='utf-8') as lines:
        for line in lines:
            yield name, json.loads(line)


def place(row):
    """What cases are sorted by: the repository, then the file's name, so that a file that was moved stays with itself."""
    name, case = row
    path = case['id'].split(':')[1] if case['id'].count(':') else case['id']
    return case['repo'], path.rsplit('/', 1)[-1], path, name, case['id']


def pack(archive, files):
    rows = [row for path in files for row in read(path)]
    rows.sort(key=place)
    counts = collections.Counter()
    with open(archive, 'wb') as out, subprocess.Popen(['xz', '-c', '-T1', '--lzma2=preset=9,dict=192MiB,lc=4,pb=0'], stdin=subprocess.PIPE, stdout=out) as xz:
        for name, case in rows:
            counts[name] += 1
            xz.stdin.write(json.dumps([name, case], ensure_ascii=False).encode('utf-8', 'replace') + b'\n')
        xz.stdin.close()
        if xz.wait() != 0:
            raise SystemExit('xz failed')
    print(f'{sum(counts.values())} cases in {os.path.getsize(archive):,} bytes: {dict(counts)}')


def unpack(folder, archives):
    os.makedirs(folder, exist_ok=True)
    files, counts = {}, collections.Counter()
    for archive in archives:
        with lzma.open(archive, 'rt', encoding='utf-8') as lines:
            for line in lines:
                name, case = json.loads(line)
                if name not in files:
                    files[name] = open(f'{folder}/{name}.jsonl', 'w', encoding='utf-8')
                files[name].write(json.dumps(case, ensure_ascii=False) + '\n')
                counts[name] += 1
    for file in files.values():
        file.close()
    print(dict(counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    modes = parser.add_subparsers(dest='mode', required=True)
    packing = modes.add_parser('pack')
    packing.add_argument('archive')
    packing.add_argument('files', nargs='+')
    unpacking = modes.add_parser('unpack')
    unpacking.add_argument('folder')
    unpacking.add_argument('archives', nargs='+')
    args = parser.parse_args()
    if args.mode == 'pack':
        pack(args.archive, args.files)
    else:
        unpack(args.folder, args.archives)


if __name__ == '__main__':
    main()
