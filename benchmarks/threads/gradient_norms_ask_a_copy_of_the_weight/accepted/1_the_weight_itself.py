"""GradNorm for two regressions of very different size on one shared trunk."""
import argparse

import torch
import torch.nn as nn


class ToyTasks:
    """y_i = sigma_i * tanh((B + eps_i) x), as in the toy example of the paper."""

    def __init__(self, sigmas=(1.0, 8.0), n_in=12, n_out=6, seed=77):
        self.g = torch.Generator().manual_seed(seed)
        self.sigmas = sigmas
        common = torch.randn(n_in, n_out, generator=self.g)
        self.maps = [0.4 * (common + 0.5 * torch.randn(n_in, n_out, generator=self.g)) for _ in sigmas]
        self.n_in = n_in

    def batch(self, n):
        x = torch.randn(n, self.n_in, generator=self.g)
        return x, [s * torch.tanh(x @ m) for s, m in zip(self.sigmas, self.maps)]


class MultiTaskNet(nn.Module):
    def __init__(self, n_in, n_out, tasks, hidden=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU())
        self.shared_last = nn.Linear(hidden, hidden)
        self.heads = nn.ModuleList(nn.Linear(hidden, n_out) for _ in range(tasks))

    def forward(self, x):
        z = torch.relu(self.shared_last(self.trunk(x)))
        return [head(z) for head in self.heads]


class GradNormTrainer:
    def __init__(self, net, tasks, alpha=0.8, lr=5e-3, weight_lr=2e-2):
        self.net = net
        self.alpha = alpha
        self.task_weights = nn.Parameter(torch.ones(tasks))
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)
        self.weight_optimizer = torch.optim.Adam([self.task_weights], lr=weight_lr)
        self.criterion = nn.MSELoss()
        self.initial = None

    def gradient_norms(self, losses):
        param = list(self.net.shared_last.parameters())
        norms = []
        for i, loss in enumerate(losses):
            g = torch.autograd.grad(
                self.task_weights[i] * loss, param[0], retain_graph=True, create_graph=True
            )
            norms.append(torch.norm(g[0], 2))
        return torch.stack(norms)

    def step(self, x, targets):
        outputs = self.net(x)
        losses = [self.criterion(o, y) for o, y in zip(outputs, targets)]
        if self.initial is None:
            self.initial = torch.tensor([l.item() for l in losses])

        self.optimizer.zero_grad()
        total = sum(w * l for w, l in zip(self.task_weights, losses))
        total.backward(retain_graph=True)

        norms = self.gradient_norms(losses)
        with torch.no_grad():
            ratio = torch.stack([l.detach() for l in losses]) / self.initial
            target = norms.mean() * (ratio / ratio.mean()) ** self.alpha
        balance = (norms - target).abs().sum()
        self.weight_optimizer.zero_grad()
        self.task_weights.grad = torch.autograd.grad(balance, self.task_weights)[0]

        self.optimizer.step()
        self.weight_optimizer.step()
        with torch.no_grad():
            self.task_weights.mul_(len(losses) / self.task_weights.sum())
        return [l.item() for l in losses], balance.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--alpha", type=float, default=0.8)
    opt = parser.parse_args()

    torch.manual_seed(1)
    data = ToyTasks()
    net = MultiTaskNet(data.n_in, 6, len(data.sigmas))
    trainer = GradNormTrainer(net, len(data.sigmas), opt.alpha)
    for epoch in range(opt.epochs):
        for _ in range(opt.steps):
            losses, balance = trainer.step(*data.batch(opt.batch))
        weights = " ".join("%.4f" % w for w in trainer.task_weights.tolist())
        print("epoch %d  losses %.5f %.5f  balance %.5f  weights %s" % (epoch, *losses, balance, weights))


if __name__ == "__main__":
    main()
