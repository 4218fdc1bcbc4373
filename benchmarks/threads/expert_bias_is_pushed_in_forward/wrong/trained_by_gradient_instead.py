"""Mixture of experts with loss-free balancing: a bias per expert enters the choice of
experts (not their weights), and is pushed by the sign of the load error in every batch."""
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, dim, n_experts, top_k, update_rate=0.05):
        super().__init__()
        self.top_k, self.update_rate = top_k, update_rate
        self.weight = nn.Parameter(0.3 * torch.randn(n_experts, dim))
        self.e_score_correction_bias = nn.Parameter(torch.zeros(n_experts))
        self.register_buffer("load", torch.zeros(n_experts))

    def forward(self, x):
        scores = torch.sigmoid(x @ self.weight.t())
        choice = scores + self.e_score_correction_bias
        idx = choice.topk(self.top_k, dim=-1).indices
        w = choice.gather(1, idx)
        w = w / w.sum(dim=-1, keepdim=True)
        if self.training:
            self.update_bias(idx)
        return idx, w

    def update_bias(self, idx):
        self.load = torch.bincount(idx.flatten(), minlength=len(self.load)).float()
        error = self.load.mean() - self.load


class MoE(nn.Module):
    def __init__(self, dim, n_experts=4, top_k=2):
        super().__init__()
        self.gate = Gate(dim, n_experts, top_k)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim)) for _ in range(n_experts)])

    def forward(self, x):
        idx, w = self.gate(x)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            row, slot = (idx == e).nonzero(as_tuple=True)
            if len(row):
                out = out.index_add(0, row, expert(x[row]) * w[row, slot].unsqueeze(1))
        return x + out


class Net(nn.Module):
    def __init__(self, n_in=6, dim=10, classes=3):
        super().__init__()
        self.stem = nn.Linear(n_in, dim)
        self.blocks = nn.ModuleList([MoE(dim) for _ in range(2)])
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = torch.tanh(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batches(n, size=24, seed=15):
    g = torch.Generator().manual_seed(seed)
    teacher = torch.randn(6, 3, generator=g)
    for _ in range(n):
        x = torch.randn(size, 6, generator=g) + 0.8
        yield x, (x @ teacher).argmax(1)


def main():
    torch.manual_seed(16)
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=0.01)
    for step, (x, y) in enumerate(batches(10)):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 3 == 0:
            net.eval()
            with torch.no_grad():
                acc = sum((net(a).argmax(1) == b).float().mean().item() for a, b in batches(2, seed=99)) / 2
            net.train()
            load = " ".join("%d" % l for l in net.blocks[0].gate.load.tolist())
            print(f"step {step} loss {loss.item():.6f} val {acc:.4f} load [{load}]")
    print("bias", " ".join("%.3f" % b for b in net.blocks[0].gate.e_score_correction_bias.tolist()))


main()
