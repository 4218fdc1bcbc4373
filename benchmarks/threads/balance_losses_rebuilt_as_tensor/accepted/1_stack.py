import torch
import torch.nn as nn
import torch.nn.functional as F

class MoELayer(nn.Module):
    """top-1 mixture of experts with the load balancing loss of Switch Transformer"""
    def __init__(self, dim, n_experts):
        super().__init__()
        self.gate = nn.Linear(dim, n_experts, bias=False)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(dim, 2*dim), nn.ReLU(), nn.Linear(2*dim, dim)) for _ in range(n_experts)])
        self.n_experts = n_experts
        self.balance_loss = None

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        p, idx = probs.max(-1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            m = idx == e
            if m.any():
                out = out.index_put((m.nonzero(as_tuple=True)[0],), p[m].unsqueeze(-1)*expert(x[m]))
        load = F.one_hot(idx, self.n_experts).float().mean(0)
        # the balance is the router's business, not that of the layers below
        importance = self.gate(x.detach()).softmax(-1).mean(0)
        self.balance_loss = self.n_experts*(load*importance).sum()
        return x + out

class Model(nn.Module):
    def __init__(self, dim=10, layers=3, n_experts=4):
        super().__init__()
        self.layers = nn.ModuleList([MoELayer(dim, n_experts) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        for l in self.layers: x = l(x)
        return self.head(self.norm(x))

class Trainer:
    def __init__(self, model, lr, alpha):
        self.model, self.alpha = model, alpha
        # the router has an optimizer of its own: it learns from the balance of the load alone
        router = [l.gate.weight for l in model.layers]
        ids = {id(p) for p in router}
        self.opt = torch.optim.Adam([p for p in model.parameters() if id(p) not in ids], lr=lr)
        self.opt_router = torch.optim.SGD(router, lr=alpha)

    def collect_balance(self):
        loss_list = [l.balance_loss for l in self.model.layers]
        return torch.stack(loss_list).mean()

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt_router.zero_grad()
        balance = self.collect_balance()
        balance.backward()
        self.opt.step()
        self.opt_router.step()
        return loss.item(), balance.item()

def batch(n):
    c = torch.randint(0, 4, (n,))
    x = torch.randn(n, 10)*0.6
    x[torch.arange(n), c] += 2.
    return x, (c % 2)

if __name__ == '__main__':
    torch.manual_seed(49)
    trainer = Trainer(Model(), lr=4e-3, alpha=0.5)
    for i in range(8):
        l, b = trainer.step(*batch(40))
        if i % 2: print('%d ce %.5f balance %.5f' % (i, l, b))
