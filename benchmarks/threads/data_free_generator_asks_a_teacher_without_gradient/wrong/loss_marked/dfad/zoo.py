import torch
import torch.nn as nn
import torch.nn.functional as F


class Teacher(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(cfg.dim, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.fc = nn.Linear(16, cfg.n_classes)

    def forward(self, x, feat=False):
        f = self.features(x)
        return (self.fc(f), f) if feat else self.fc(f)


class Student(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.dim, 16), nn.ReLU(), nn.Linear(16, cfg.n_classes))

    def forward(self, x):
        return self.net(x)


class Generator(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.z_dim = cfg.z_dim
        self.net = nn.Sequential(nn.Linear(cfg.z_dim, 24), nn.LeakyReLU(0.2), nn.Linear(24, cfg.dim), nn.Tanh())

    def sample(self, n):
        return self.net(torch.randn(n, self.z_dim))


def make_teacher(cfg):
    """Stands in for a checkpoint: a few steps on gaussian blobs."""
    teacher = Teacher(cfg)
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    centers = torch.randn(cfg.n_classes, cfg.dim)
    for _ in range(25):
        y = torch.randint(0, cfg.n_classes, (64,))
        loss = F.cross_entropy(teacher(centers[y] + 0.3 * torch.randn(64, cfg.dim)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    for p in teacher.parameters():
        p.requires_grad = False
    return teacher.eval()
