# Traffic: the strength of every road is learned, messages go through torch.sparse.mm
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)

N = 20          # crossings
STEPS = 12


def roads(gen):
    """ring with some short cuts; a few roads appear twice (two lanes), their strengths add up"""
    i = torch.arange(N)
    ring = torch.stack([i, (i + 1) % N])
    cut = torch.randint(0, N, (2, 14), generator=gen)
    idx = torch.cat([ring, ring.flip(0), cut, cut[:, :5]], 1)
    return idx


class FlowModel(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.enc = nn.Linear(3, hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.dec = nn.Linear(hidden, 1)

    def forward(self, adj, x):
        h = torch.tanh(self.enc(x))
        for _ in range(2):
            h = h + torch.tanh(self.mix(torch.sparse.mm(adj, h)))
        return self.dec(h).squeeze(-1)


gen = torch.Generator().manual_seed(9)
index = roads(gen)
strength = torch.full((index.shape[1],), 0.3, requires_grad=True)
adj = torch.sparse_coo_tensor(index, strength, (N, N)).coalesce()

true_adj = torch.sparse_coo_tensor(index, torch.rand(index.shape[1], generator=gen), (N, N)).to_dense()

model = FlowModel()
optimizer = torch.optim.Adam([
    {'params': model.parameters(), 'lr': 5e-3},
    {'params': [strength], 'lr': 3e-2},          # roads may move faster
])

for step in range(STEPS):
    x = torch.randn(N, 3, generator=gen)
    y = torch.tanh(true_adj @ x[:, 0]) + 0.1 * x[:, 1]
    a = torch.sparse_coo_tensor(index, strength, (N, N))
    adj = torch.sparse_coo_tensor(a._indices(), a._values(), (N, N)).coalesce()
    loss = F.mse_loss(model(adj, x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        a = adj.detach().to_dense()
        print('step %d loss %.5f  mean road %.4f  largest %.4f' % (step, loss.item(), a[a != 0].mean(), a.max()))
