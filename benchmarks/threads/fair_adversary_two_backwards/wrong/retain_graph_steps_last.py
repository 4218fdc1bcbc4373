# Adversarial debiasing (Zhang et al. 2018, without the projection term), tabular data
# predictor: income from features; adversary: protected attribute from predictor's logit (+ label -> equalised odds)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

LAMBDA = 0.6
N, D = 256, 10
EPOCHS = 3
BATCH = 64


def make_census(n=N, d=D):
    s = (torch.rand(n) < 0.4).float()
    x = torch.randn(n, d)
    x[:, 0] += 1.2 * s
    x[:, 1] -= 0.8 * s
    y = ((x[:, 0] + 0.7 * x[:, 2] - 0.5 * x[:, 3] + 0.3 * torch.randn(n)) > 0.3).float()
    return x, y, s


class Predictor(nn.Module):
    def __init__(self, d, h=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class Adversary(nn.Module):
    def __init__(self, h=8):
        super().__init__()
        self.c = nn.Parameter(torch.ones(()))
        self.net = nn.Sequential(nn.Linear(3, h), nn.Tanh(), nn.Linear(h, 1))

    def forward(self, logit, y):
        s = torch.sigmoid((1 + self.c.abs()) * logit)
        return self.net(torch.stack([s, s * y, s * (1 - y)], -1)).squeeze(-1)


class Debiaser:
    def __init__(self, d):
        self.clf = Predictor(d)
        self.adv = Adversary()
        self.opt_clf = torch.optim.Adam(self.clf.parameters(), lr=1e-2)
        self.opt_adv = torch.optim.Adam(self.adv.parameters(), lr=2e-2)

    def pretrain(self, x, y, steps=3):
        for _ in range(steps):
            loss = F.binary_cross_entropy_with_logits(self.clf(x), y)
            self.opt_clf.zero_grad()
            loss.backward()
            self.opt_clf.step()
        return loss.item()

    def train_batch(self, x, y, s):
        logit = self.clf(x)
        adv_loss = F.binary_cross_entropy_with_logits(self.adv(logit, y), s)

        # 1) adversary
        self.opt_adv.zero_grad()
        adv_loss.backward(retain_graph=True)

        # 2) predictor, must fool the adversary
        clf_loss = F.binary_cross_entropy_with_logits(logit, y) - LAMBDA * adv_loss
        self.opt_clf.zero_grad()
        clf_loss.backward()
        self.opt_clf.step()
        self.opt_adv.step()
        return clf_loss.item(), adv_loss.item()

    @torch.no_grad()
    def gap(self, x, s):
        p = torch.sigmoid(self.clf(x))
        return (p[s == 1].mean() - p[s == 0].mean()).item()


def main():
    x, y, s = make_census()
    model = Debiaser(D)
    print("pretrain %.5f" % model.pretrain(x, y))
    print("gap before %.5f" % model.gap(x, s))
    for ep in range(EPOCHS):
        perm = torch.randperm(N)
        c = a = 0.0
        for i in range(0, N, BATCH):
            j = perm[i:i + BATCH]
            lc, la = model.train_batch(x[j], y[j], s[j])
            c, a = c + lc, a + la
        print("ep %d clf %.5f adv %.5f" % (ep, c / (N // BATCH), a / (N // BATCH)))
    print("gap after %.5f" % model.gap(x, s))


if __name__ == "__main__":
    main()
