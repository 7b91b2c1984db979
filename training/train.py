#!/usr/bin/env python3
"""Trains the skimmer and measures it on the dev cases (PyTorch, a GPU).

usage: train.py DATA_FOLDER OUT [option=value]...     options are the fields of `Options`

DATA_FOLDER is what prepare.py wrote. OUT.weights is the file that the product embeds; OUT.json the figures.
The input is the features of each line. Convolutions over neighbouring lines follow, with pooling over the definition or section,
the top-level part and the whole text that a line is in. The Rust side is crates/prune/src/network.rs.
"""
import dataclasses, glob, json, os, sys, time
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

DEV = ('dev_commits', 'dev_docs', 'dev_sweqa', 'dev_agent_read', 'dev_agent_shell', 'dev_listings')
TEST = ('test_logs', 'test_fresh', 'test_bgl', 'test_read', 'test_shell', 'test_sections', 'test_listings', 'test_forms')
VERSION = 'skimmer-4'  # must match WEIGHTS_VERSION of crates/prune
GAP = 48  # zero padding between two texts of a batch: more than any convolution reaches


@dataclasses.dataclass
class Options:
    seed: int = 0
    steps: int = 4500
    batch: int = 32768          # lines
    members: int = 3            # networks that are averaged
    width: int = 32
    kernel: int = 5
    dilations: str = '1,4'
    levels: str = 'near,top,text'   # what lines are pooled over
    leave: int = 16
    rate: float = 3e-3
    decay: float = .1
    dropout: float = .15
    feature_dropout: float = .03
    share: float = .05          # weight of the loss over all lines of a text
    positive: float = 6.0       # weight of a needed line against the others
    length: float = .25         # 0: every character costs the same; 1: every text does
    # files of cases and their weight in the draw; a file that is not in the folder is left out, with a note
    sources: str = 'train_commits:1,train_docs:1,more_commits:1,more_docs:1,more_sections:1,train_read:3,train_shell:3,train_logs:6'
    without: str = ''           # features to leave out, for ablations
    kinds: str = ''             # kinds of text to train on; all by default
    skip_repos: str = ''        # repositories to leave out of training; their cases are measured as kept_back_*
    importance: int = 0         # 1: measure how much worse the dev cases get without each feature


def options():
    known = {f.name: f.type for f in dataclasses.fields(Options)}
    given = dict(a.split('=', 1) for a in sys.argv[3:])
    return Options(**{k: {'int': int, 'float': float}.get(getattr(known[k], '__name__', known[k]), str)(v) for k, v in given.items()})


class Store:
    """The lines of all cases of all files, one after another, on the GPU."""

    def __init__(self):
        self.parts, self.lines = [], 0

    def add(self, path, lines):
        start, self.lines = self.lines, self.lines + lines
        self.parts.append((path, start, lines))
        return start

    def load(self, columns):
        self.x = torch.empty(self.lines, columns, dtype=torch.half, device='cuda')
        self.flat = torch.empty(6, self.lines, dtype=torch.int32, device='cuda')
        for path, start, lines in self.parts:
            with np.load(path) as shard:
                self.x[start:start + lines] = torch.from_numpy(shard['x']).cuda()
                self.flat[:, start:start + lines] = torch.from_numpy(shard['flat']).cuda()


class Cases:
    """The cases of one file."""

    def __init__(self, store, folder, name):
        shards = sorted(glob.glob(f'{folder}/{name}.*.npz'), key=lambda p: int(p.rsplit('.', 2)[1]))
        self.repos = open(f'{folder}/{name}.repos', encoding='utf-8').read().split('\n')[:-1]
        self.name, self.store, lengths, starts, kinds, units = name, store, [], [], [], []
        for path in shards:
            with np.load(path) as shard:
                ends = np.cumsum(shard['lengths'])
                flat, start = shard['flat'], store.add(path, int(ends[-1]))
                lengths += shard['lengths'].tolist()
                kinds += shard['kinds'].tolist()
                starts += (start + ends - shard['lengths']).tolist()
                for end, length in zip(ends, shard['lengths']):
                    units.append(flat[3:, end - length:end].max(1) + 1)
        assert len(lengths) == len(self.repos), (name, len(lengths), len(self.repos))
        self.lengths, self.starts, self.kinds, self.units = (np.array(v, np.int64) for v in (lengths, starts, kinds, units))


class Batch:
    """Several cases, concatenated with padding between them."""

    def __init__(self, picked):
        self.cases, store = len(picked), picked[0][0].store
        sizes = np.array([c.lengths[k] for c, k in picked])
        total = int(sizes.sum() + GAP * (len(picked) + 1))
        index, case = np.zeros(total, np.int64), np.full(total, len(picked), np.int64)
        bases, base, at, self.spans = np.zeros((3, total), np.int64), np.ones(3, np.int64), GAP, []
        mask = np.zeros(total, np.float32)
        for number, (cases, k) in enumerate(picked):
            n, s = int(cases.lengths[k]), int(cases.starts[k])
            here = slice(at, at + n)
            index[here], case[here], mask[here] = np.arange(s, s + n), number, 1
            bases[:, here] = base[:, None]
            base = base + cases.units[k]
            self.spans.append(here)
            at += n + GAP
        put = lambda v: torch.from_numpy(v).cuda(non_blocking=True)
        index, self.case, self.mask = put(index), put(case), put(mask)
        flat = store.flat[:, index] * self.mask.int()
        self.x = store.x[index].float()
        self.gold, self.width = (flat[0] == 1).float(), flat[2].float()
        self.free = (1 - flat[1].float()) * self.mask
        self.judged = (flat[0] != 2).float() * self.free
        self.unit = flat[3:].long() + put(bases)
        self.counts = base.tolist()


def pooled(z, groups, count, mask):
    """Mean and maximum over the lines of each group, for every line of the group."""
    sums = torch.zeros(count, z.shape[1], device=z.device).index_add_(0, groups, z)
    sizes = torch.zeros(count, device=z.device).index_add_(0, groups, mask)
    top = torch.full((count, z.shape[1]), 0., device=z.device).scatter_reduce_(0, groups[:, None].expand_as(z), z, 'amax')
    return torch.cat([sums / sizes.clamp(min=1)[:, None], top], 1)


class Member(nn.Module):
    def __init__(self, o, features):
        super().__init__()
        self.o = o
        w, k = o.width, o.kernel
        self.enter = nn.Linear(features, w)
        self.dilations = [int(d) for d in o.dilations.split(',') if d]
        self.convs = nn.ModuleList([nn.Conv1d(w, w, k, padding=k // 2 * d, dilation=d) for d in self.dilations])
        self.norms = nn.ModuleList([nn.LayerNorm(w) for _ in self.dilations])
        self.levels = [l for l in o.levels.split(',') if l]
        self.pools = nn.ModuleDict({l: nn.Linear(2 * w, w) for l in self.levels})
        self.last = nn.LayerNorm(w)
        self.leave = nn.Sequential(nn.Linear(w, o.leave), nn.ReLU(), nn.Linear(o.leave, 1))

    def pool(self, z, b):
        groups = {'paragraph': (b.unit[0], b.counts[0]), 'near': (b.unit[1], b.counts[1]), 'top': (b.unit[2], b.counts[2]), 'text': (b.case, b.cases + 1)}
        common = [F.relu(self.pools[level](pooled(z, *groups[level], b.mask)))[groups[level][0]] for level in self.levels]
        return sum(common, z) * b.mask[:, None]

    def forward(self, x, b):
        o, m = self.o, b.mask[:, None]
        if self.training and o.feature_dropout:
            x = x * (torch.rand(x.shape[1], device=x.device) >= o.feature_dropout)
        z = F.relu(self.enter(x)) * m
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            h = (norm(z) * m).T[None]
            h = conv(h)[0].T
            h = F.relu(h)
            if self.training and o.dropout:
                h = F.dropout(h, o.dropout)
            z = z + h * m
            if i == (len(self.convs) - 1) // 2:
                z = self.pool(z, b)
        if not len(self.convs):
            z = self.pool(z, b)
        return self.leave(self.last(z))[:, 0]


class Skimmer(nn.Module):
    """An ensemble: networks trained on the same texts from different initial weights. Better than one larger network."""

    def __init__(self, o, mean, std):
        super().__init__()
        self.o = o
        self.register_buffer('mean', mean)
        self.register_buffer('scale', 1 / std)
        self.members = nn.ModuleList([Member(o, len(mean)) for _ in range(o.members)])

    def each(self, b):
        x = ((b.x - self.mean) * self.scale).clamp(-5, 5)
        return [member(x, b) for member in self.members]

    def forward(self, b):
        return sum(self.each(b)) / len(self.members)


def loss_of(logit, b, o):
    """Needed lines have the same total weight in every text, other lines count by their width. Protected lines and lines
    marked `also` are left out."""
    n = b.cases + 1
    per = lambda values: torch.zeros(n, device=logit.device).index_add_(0, b.case, values)[:-1]
    wanted, other = b.gold * b.judged, (1 - b.gold) * b.judged
    found = per(wanted).clamp(min=1)
    chars = per(b.width * b.mask).clamp(min=1)
    missed = per(F.softplus(-logit) * wanted) / per(b.gold).clamp(min=1)
    cost = per(F.softplus(logit) * other * b.width) / (chars ** o.length * 20000. ** (1 - o.length))
    bce = (o.positive * missed + cost).mean()
    free = torch.where(b.judged > 0, logit, torch.full_like(logit, -1e4))
    top = torch.full((n,), -1e4, device=logit.device).scatter_reduce_(0, b.case, free, 'amax')
    log_sum = torch.log(per(torch.exp((free - top[b.case]).clamp(min=-50)) * b.judged).clamp(min=1e-9)) + top[:-1]
    share = (log_sum - per(free * wanted) / found)[per(wanted) > 0]
    return bce + o.share * (share.mean() if len(share) else 0)


@torch.no_grad()
def measure(net, cases, which=None):
    """Recall and cut over thresholds, with protected lines kept and one threshold for all cases of a file.

    `whole98` is the cut while every needed line stays in 98 % of the cases."""
    net.eval()
    which = range(len(cases.lengths)) if which is None else which
    scores, golds, widths, owner = [], [], [], []
    picked, size = [], 0
    todo = list(which)
    for place, k in enumerate(todo):
        picked.append((cases, k))
        size += cases.lengths[k] + GAP
        if size > 60000 or place == len(todo) - 1:
            b = Batch(picked)
            logit = torch.where(b.free > 0, net(b), torch.full_like(b.free, 1e4))
            for number, span in enumerate(b.spans):
                scores.append(logit[span]); golds.append(b.gold[span]); widths.append(b.width[span])
                owner.append(torch.full((span.stop - span.start,), len(owner), device='cuda'))
            picked, size = [], 0
    net.train()
    s, g, w, c = (torch.cat(v) for v in (scores, golds, widths, owner))
    free = s[s < 1e4]
    n = len(scores)
    gold_sum = torch.zeros(n, device='cuda').index_add_(0, c, g).clamp(min=1)
    points = []
    for t in torch.quantile(free[torch.randperm(len(free), device='cuda')[:1000000]].float(), torch.linspace(0, 1, 201, device='cuda')).tolist():
        kept = (s >= t).float()
        recalls = torch.zeros(n, device='cuda').index_add_(0, c, g * kept) / gold_sum
        whole = (recalls > .9999).float().mean().item()
        points.append((recalls.mean().item(), 1 - ((w * kept).sum() / w.sum()).item(), t, whole))
    best = lambda target: max([(cut, t) for r, cut, t, _ in points if r >= target], default=(0, 0))
    curve = sorted((1 - cut, r) for r, cut, _, _ in points)
    whole98 = max([cut for _, cut, _, whole in points if whole >= .98], default=0)
    budget = lambda share: np.interp(share, [k for k, _ in curve], [r for _, r in curve])
    return {'cut95': round(best(.95)[0], 3), 'cut90': round(best(.9)[0], 3), 'r10': round(float(budget(.1)), 3), 'r20': round(float(budget(.2)), 3), 't95': round(best(.95)[1], 2), 't98': round(best(.98)[1], 2), 'cut98': round(best(.98)[0], 3), 'whole98': round(whole98, 3)}


@torch.no_grad()
def importance(net, files, names):
    """The loss on the dev cases with one feature fixed at its mean, relative to the loss with all features; per file."""
    net.eval()
    batches = []
    for cases in files:
        picked, size = [], 0
        for k in range(len(cases.lengths)):
            picked.append((cases, k))
            size += cases.lengths[k] + GAP
            if size > 120000 or k == len(cases.lengths) - 1:
                batches.append((cases.name, Batch(picked)))
                picked, size = [], 0

    def losses():
        sums = {}
        for name, b in batches:
            total, count = sums.get(name, (0., 0))
            sums[name] = (total + float(loss_of(net(b), b, net.o)) * b.cases, count + b.cases)
        return {name: total / count for name, (total, count) in sums.items()}
    whole, scale, table = losses(), net.scale.clone(), {}
    for number, name in enumerate(names):
        net.scale[number] = 0
        table[name] = {k: round(v / whole[k] - 1, 4) for k, v in losses().items()}
        net.scale.copy_(scale)
    return table


def rounded(net):
    """Weights as the product stores them: the upper 16 bits of each number."""
    with torch.no_grad():
        for tensor in net.state_dict().values():
            tensor.copy_(tensor.bfloat16().float())


def export(net, path):
    """The file that the product embeds: a header line, then the numbers in the order in which the network reads them."""
    parts = [net.mean, net.scale]
    for member in net.members:
        parts += [member.enter.weight, member.enter.bias]
        for norm, conv in zip(member.norms, member.convs):
            parts += [norm.weight, norm.bias, conv.weight.permute(2, 0, 1), conv.bias]
        for level in member.levels:
            parts += [member.pools[level].weight, member.pools[level].bias]
        parts += [member.last.weight, member.last.bias]
        for dense in (member.leave[0], member.leave[2]):
            parts += [dense.weight, dense.bias]
    flat = torch.cat([p.detach().reshape(-1) for p in parts]).bfloat16().view(torch.int16).cpu().numpy().astype('<i2')
    with open(path, 'wb') as f:
        f.write(f'tamis skimmer {VERSION}\n'.encode() + flat.tobytes())


def main():
    o, folder, out = options(), sys.argv[1], sys.argv[2]
    torch.manual_seed(o.seed)
    rng = np.random.default_rng(o.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    names = open(glob.glob(f'{folder}/*.names')[0]).read().split('\n')
    start = time.time()
    sources = [(s.split(':')[0], float(s.split(':')[1])) for s in o.sources.split(',')]
    kinds = {int(k) for k in o.kinds.split(',') if k}
    skip = set(filter(None, o.skip_repos.split(',')))
    train, weights, store, kept_back = [], [], Store(), []
    for name, weight in sources:
        if not glob.glob(f'{folder}/{name}.repos'):
            print('left out:', name)
            continue
        cases = Cases(store, folder, name)
        allowed = [k for k in range(len(cases.lengths)) if cases.repos[k] not in skip and (not kinds or cases.kinds[k] in kinds) and cases.lengths[k] < 8000]
        kept_back.append((cases, [k for k in range(len(cases.lengths)) if cases.repos[k] in skip]))
        train += [(cases, k) for k in allowed]
        weights += [weight] * len(allowed)
    weights = np.array(weights) / sum(weights)
    dev = [Cases(store, folder, n) for n in DEV if glob.glob(f'{folder}/{n}.repos')]
    extra = [Cases(store, folder, n) for n in TEST if glob.glob(f'{folder}/{n}.repos')]
    store.load(len(names))
    print('loaded', len(train), 'cases in', round(time.time() - start), 's', flush=True)
    lines = np.concatenate([np.arange(c.starts[k], c.starts[k] + c.lengths[k], 29) for c, k in train])
    sample = store.x[torch.from_numpy(lines).cuda()].float()
    mean, std = sample.mean(0), sample.std(0).clamp(min=1e-3)
    drop = torch.tensor([n in o.without.split(',') for n in names], device='cuda')
    std = torch.where(drop, torch.full_like(std, 1e9), std)
    net = Skimmer(o, mean, std).cuda()
    opt = torch.optim.AdamW(net.parameters(), o.rate, weight_decay=o.decay)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, o.rate, o.steps, pct_start=.05)
    average = {k: v.clone() for k, v in net.state_dict().items()}
    total = 0.
    order, at = rng.choice(len(train), 400000, p=weights), 0
    for step in range(o.steps):
        picked, size = [], 0
        while size < o.batch:
            if at == len(order):
                order, at = rng.choice(len(train), 400000, p=weights), 0
            picked.append(train[order[at]])
            size += train[order[at]][0].lengths[train[order[at]][1]] + GAP
            at += 1
        b = Batch(picked)
        loss = sum(loss_of(logit, b, o) for logit in net.each(b)) / o.members
        opt.zero_grad(set_to_none=True)
        loss.backward()
        for member in net.members:
            nn.utils.clip_grad_norm_(member.parameters(), .5)
        opt.step()
        plan.step()
        with torch.no_grad():
            rate = min(.998, step / (step + 20))
            for k, v in net.state_dict().items():
                average[k].lerp_(v, 1 - rate) if v.is_floating_point() else average[k].copy_(v)
        total += float(loss) if step % 50 == 0 else 0
        if step % 1000 == 999:
            print('step', step + 1, 'loss', round(total / 20, 4), round(time.time() - start), 's', flush=True)
            total = 0.
    net.load_state_dict(average)
    rounded(net)
    figures = {c.name: measure(net, c) for c in dev + extra}
    figures.update({f'kept_back_{c.name}': measure(net, c, which) for c, which in kept_back if len(which) >= 20})
    if o.importance:
        figures['importance'] = importance(net, dev + extra, names)
    figures['weights'] = sum(p.numel() for p in net.parameters())
    print(os.path.basename(out), *sys.argv[3:])
    for name, row in figures.items():
        if name != 'importance':
            print('  ', name, row, flush=True)
    json.dump(figures, open(out + '.json', 'w'), indent=1)
    export(net, out + '.weights')


if __name__ == '__main__':
    main()
