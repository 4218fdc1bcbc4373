# %% [markdown]
# GLNN-style distillation: a GNN teacher, an MLP student that never sees the edges.
# (exported from distill_v3.ipynb)

# %%
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


# %%
def sbm(n=45, k=3, p_in=0.3, p_out=0.03, d=10):
    y = torch.arange(n) % k
    same = y[:, None] == y[None, :]
    a = (torch.rand(n, n) < torch.where(same, torch.tensor(p_in), torch.tensor(p_out))).float()
    a = ((a + a.t() + torch.eye(n)) > 0).float()
    deg = a.sum(1)
    adj = a / (deg[:, None] * deg[None, :]).sqrt()
    x = torch.randn(n, d) + 0.8 * F.one_hot(y, d).float()
    return x, adj, y


class GCN(nn.Module):
    def __init__(self, d, h, c):
        super().__init__()
        self.l1 = nn.Linear(d, h)
        self.l2 = nn.Linear(h, c)

    def forward(self, x, adj):
        h = torch.relu(adj @ self.l1(x))
        return h, adj @ self.l2(h)


class MLP(nn.Module):
    def __init__(self, d, h, c):
        super().__init__()
        self.l1 = nn.Linear(d, h)
        self.l2 = nn.Linear(h, c)

    def forward(self, x):
        h = torch.relu(self.l1(x))
        return h, self.l2(h)


# %%
def train_teacher(teacher, x, adj, y, idx, epochs):
    opt = torch.optim.Adam(teacher.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(epochs):
        _, out = teacher(x, adj)
        loss = F.cross_entropy(out[idx], y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("teacher loss", round(loss.item(), 6))


class Distiller:
    def __init__(self, teacher, student, t_dim, s_dim, lam=0.5, beta=0.3, T=2.0):
        self.teacher, self.student = teacher, student
        self.proj = nn.Linear(t_dim, s_dim)      # hint layer: teacher width -> student width
        self.lam, self.beta, self.T = lam, beta, T
        self.opt = torch.optim.Adam(list(student.parameters()) + list(self.proj.parameters()), lr=0.02)

    def kd(self, s, t):
        return F.kl_div(F.log_softmax(s / self.T, 1), F.softmax(t / self.T, 1), reduction="batchmean") * self.T ** 2

    def step(self, x, adj, y, idx):
        self.teacher.eval()
        self.student.train()
        with torch.no_grad():
            t_h, t_out = self.teacher(x, adj)
            t_h = self.proj(t_h)
        s_h, s_out = self.student(x)
        ce = F.cross_entropy(s_out[idx], y[idx])
        loss = self.lam * ce + (1 - self.lam) * self.kd(s_out, t_out)
        loss = loss + self.beta * F.mse_loss(s_h, t_h)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


# %%
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--noise", type=float, default=0.0)
args, _ = parser.parse_known_args()   # jupyter passes its own -f

x, adj, y = sbm()
idx = torch.arange(15)
teacher = GCN(x.size(1), 16, 3)
train_teacher(teacher, x, adj, y, idx, 10)

# %%
student = MLP(x.size(1), 8, 3)
dist = Distiller(teacher, student, 16, 8)
for epoch in range(args.epochs):
    l = dist.step(x, adj, y, idx)
    if epoch % 2 == 0:
        print("epoch", epoch, "loss", round(l, 6))

# %%
with torch.no_grad():
    pred = student(x)[1]
    print("student nll %.6f" % F.cross_entropy(pred, y).item())
