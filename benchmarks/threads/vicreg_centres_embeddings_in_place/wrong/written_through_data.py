import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(5)

# VICReg on two noisy views, expander of three layers

class Args: pass
args = Args()
args.sim_coeff, args.std_coeff, args.cov_coeff = 25.0, 25.0, 1.0
args.dim, args.batch, args.lr, args.steps = 16, 24, 3e-3, 8

def off_diagonal(x):
    n, m = x.shape
    assert n == m
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()

class VICReg(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.backbone = nn.Sequential(nn.Linear(8, 24), nn.BatchNorm1d(24), nn.ReLU(inplace=True), nn.Linear(24, 12))
        self.projector = nn.Sequential(nn.Linear(12, args.dim), nn.BatchNorm1d(args.dim), nn.ReLU(inplace=True),
                                       nn.Linear(args.dim, args.dim))

    def forward(self, x, y):
        x, y = self.projector(self.backbone(x)), self.projector(self.backbone(y))
        repr_loss = F.mse_loss(x, y)

        x.data -= x.data.mean(dim=0)
        y.data -= y.data.mean(dim=0)

        std_x, std_y = torch.sqrt(x.var(dim=0) + 0.0001), torch.sqrt(y.var(dim=0) + 0.0001)
        std_loss = torch.mean(F.relu(1 - std_x)) / 2 + torch.mean(F.relu(1 - std_y)) / 2

        cov_x = (x.T @ x) / (self.args.batch - 1)
        cov_y = (y.T @ y) / (self.args.batch - 1)
        cov_loss = off_diagonal(cov_x).pow_(2).sum().div(self.args.dim) + off_diagonal(cov_y).pow_(2).sum().div(self.args.dim)

        loss = self.args.sim_coeff * repr_loss + self.args.std_coeff * std_loss + self.args.cov_coeff * cov_loss
        return loss, (repr_loss.item(), std_loss.item(), cov_loss.item())

def views(n):
    clean = torch.randn(n, 3) @ basis
    return clean + 0.2 * torch.randn(n, 8), clean + 0.2 * torch.randn(n, 8)

basis = torch.randn(3, 8)
model = VICReg(args)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
for step in range(args.steps):
    x, y = views(args.batch)
    loss, stats = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2: print(step, '%.5f' % loss.item(), *['%.5f' % s for s in stats])
