# few-shot classification where a generator proposes the task's head and a few SGD steps fine-tune it
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class BaseNet(nn.Module):
    """embedding, shared by all tasks"""

    def __init__(self, d_in, d_emb):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, 24), nn.ReLU(), nn.Linear(24, d_emb), nn.Tanh())

    def forward(self, x):
        return self.net(x)


class WeightGenerator(nn.Module):
    """class mean -> (row of W, bias). Like the slow/fast weights of MetaNet / LEO's decoder."""

    def __init__(self, d_emb):
        super().__init__()
        self.mix = nn.Sequential(nn.Linear(d_emb, 16), nn.ReLU(), nn.Linear(16, d_emb + 1))

    def forward(self, z, y, n_way):
        protos = torch.stack([z[y == c].mean(0) for c in range(n_way)])
        out = self.mix(protos)
        return out[:, :-1], out[:, -1]


class FewShotLearner:
    def __init__(self, args):
        self.n_way, self.inner_lr, self.n_inner = args.n_way, args.inner_lr, args.n_inner
        self.base = BaseNet(10, 8)
        self.gen = WeightGenerator(8)
        self.meta_opt = torch.optim.Adam([{'params': self.base.parameters()}, {'params': self.gen.parameters(), 'lr': args.gen_lr}], lr=args.meta_lr)

    def adapt(self, zs, ys):
        w, b = self.gen(zs, ys, self.n_way)
        w.retain_grad(); b.retain_grad()
        inner_opt = torch.optim.SGD([w, b], lr=self.inner_lr)
        for _ in range(self.n_inner):
            inner_loss = F.cross_entropy(F.linear(zs, w, b), ys)
            inner_opt.zero_grad()
            inner_loss.backward(retain_graph=True)
            inner_opt.step()
        return w, b

    def meta_step(self, tasks):
        losses, accs = [], []
        for xs, ys, xq, yq in tasks:
            zs = self.base(xs)
            w, b = self.adapt(zs, ys)
            logits = F.linear(self.base(xq), w, b)
            losses.append(F.cross_entropy(logits, yq))
            accs.append((logits.argmax(1) == yq).float().mean())
        loss = torch.stack(losses).mean()
        self.meta_opt.zero_grad()
        loss.backward()
        gnorm = sum(p.grad.norm().item() for p in self.gen.parameters() if p.grad is not None)
        self.meta_opt.step()
        return loss.item(), torch.stack(accs).mean().item(), gnorm


def sample_task(n_way, k_shot, n_query, g):
    centers = torch.randn(n_way, 10, generator=g) * 1.5

    def draw(k):
        y = torch.arange(n_way).repeat_interleave(k)
        return centers[y] + 0.6 * torch.randn(len(y), 10, generator=g), y

    return draw(k_shot) + draw(n_query)


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--n_way', type=int, default=4); p.add_argument('--k_shot', type=int, default=3)
    p.add_argument('--n_inner', type=int, default=3); p.add_argument('--inner_lr', type=float, default=0.5)
    p.add_argument('--meta_lr', type=float, default=1e-2); p.add_argument('--gen_lr', type=float, default=5e-3)
    p.add_argument('--meta_batch', type=int, default=3); p.add_argument('--iters', type=int, default=5)
    args = p.parse_args()
    torch.manual_seed(41)
    g = torch.Generator().manual_seed(42)
    learner = FewShotLearner(args)
    for it in range(args.iters):
        tasks = [sample_task(args.n_way, args.k_shot, 5, g) for _ in range(args.meta_batch)]
        loss, acc, gn = learner.meta_step(tasks)
        print(f'{it}: query loss {loss:.5f} acc {acc:.3f} generator grad {gn:.5f}')
