import torch
import torch.nn as nn
import torch.nn.functional as F


class Multi(nn.Module):
    def __init__(self, tasks=2):
        super().__init__()
        self.shared = nn.Linear(6, 10)
        self.heads = nn.ModuleList(nn.Linear(10, 1) for _ in range(tasks))

    def forward(self, x):
        h = torch.tanh(self.shared(x))
        return [head(h).squeeze(1) for head in self.heads]


class GradNorm:
    def __init__(self, n_tasks, alpha=1.5, lr=0.05):
        self.w = torch.ones(n_tasks, requires_grad=True)
        self.alpha, self.init_losses = alpha, None
        self.opt = torch.optim.Adam([self.w], lr=lr)

    def loss(self, losses, shared):
        if self.init_losses is None:
            self.init_losses = losses.detach()
        norms = torch.stack([torch.norm(torch.autograd.grad(w * l, shared, retain_graph=True)[0])
                             for w, l in zip(self.w, losses)])
        ratio = (losses / self.init_losses).detach()
        target = (norms.mean() * (ratio / ratio.mean()) ** self.alpha).detach()
        return (norms - target).abs().sum()


def train(iters=6):
    torch.manual_seed(4)
    model, gn = Multi(), GradNorm(2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(iters):
        x = torch.randn(30, 6)
        targets = [x[:, 0], 5 * torch.sin(x[:, 1])]
        losses = torch.stack([F.mse_loss(p, t) for p, t in zip(model(x), targets)])
        opt.zero_grad()
        (gn.w.detach() * losses).sum().backward(retain_graph=True)
        gn_loss = gn.loss(losses, model.shared.weight)
        gn.opt.zero_grad()
        gn_loss.backward()
        gn.opt.step()
        opt.step()
        with torch.no_grad():
            gn.w *= len(gn.w) / gn.w.sum()
    return losses, gn


losses, gn = train()
print("losses %.6f %.6f weights %.6f %.6f" % (*losses.tolist(), *gn.w.tolist()))
