# Continual backprop (generate-and-test) for an online regression whose target drifts.
# Dohare et al. 2021: units with low utility get new incoming weights, their outgoing weights are set to zero.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, d_in=8, h=20, d_out=1):
        super().__init__()
        self.fc1 = nn.Linear(d_in, h)
        self.fc2 = nn.Linear(h, h)
        self.fc3 = nn.Linear(h, d_out)

    def forward(self, x):
        h1 = torch.relu(self.fc1(x))
        h2 = torch.relu(self.fc2(h1))
        return self.fc3(h2), (h1, h2)


class GnT:
    """generate and test for the hidden units of a net"""

    def __init__(self, net, opt, rate=0.02, decay=0.9, maturity=4):
        self.opt, self.rate, self.decay, self.maturity = opt, rate, decay, maturity
        self.pairs = [(net.fc1, net.fc2), (net.fc2, net.fc3)]
        self.util = [torch.zeros(a.out_features) for a, _ in self.pairs]
        self.age = [torch.zeros(a.out_features) for a, _ in self.pairs]
        self.debt = [0.0 for _ in self.pairs]
        self.replaced = 0

    def step(self, features):
        for i, ((fc_in, fc_out), h) in enumerate(zip(self.pairs, features)):
            with torch.no_grad():
                now = h.abs().mean(0) * fc_out.weight.abs().sum(0)
                self.util[i].mul_(self.decay).add_(now, alpha=1 - self.decay)
                self.age[i] += 1
            eligible = torch.nonzero(self.age[i] > self.maturity).flatten()
            self.debt[i] += self.rate * len(eligible)
            n = int(self.debt[i])
            if n == 0:
                continue
            self.debt[i] -= n
            worst = eligible[self.util[i][eligible].argsort()[:n]]
            self.regenerate(i, fc_in, fc_out, worst)

    def regenerate(self, i, fc_in, fc_out, idx):
        bound = math.sqrt(6.0 / fc_in.in_features)
        fresh = torch.empty(len(idx), fc_in.in_features).uniform_(-bound, bound)
        fc_in.weight.clone()[idx] = fresh
        fc_in.bias.clone()[idx] = 0.0
        fc_out.weight.clone()[:, idx] = 0.0
        self.util[i][idx] = 0.0
        self.age[i][idx] = 0.0
        self.replaced += len(idx)
        # forget the momentum of the replaced units, too
        for p, sl in ((fc_in.weight, idx), (fc_in.bias, idx), (fc_out.weight, (slice(None), idx))):
            buf = self.opt.state[p].get("momentum_buffer") if p in self.opt.state else None
            if buf is not None:
                buf[sl] = 0.0


def stream(steps, batch=16, period=12):
    w = torch.randn(8, 1)
    for t in range(steps):
        if t % period == 0:
            w = w[torch.randperm(8)]     # new task
        x = torch.randn(batch, 8)
        yield x, torch.sin(x @ w) + 0.02 * torch.randn(batch, 1)


def run(steps=36, lr=0.02, momentum=0.9):
    torch.manual_seed(4)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum)
    gnt = GnT(net, opt)
    acc, hist = 0.0, []
    for t, (x, y) in enumerate(stream(steps)):
        out, feats = net(x)
        loss = F.mse_loss(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        gnt.step(feats)
        acc += loss.item()
        if (t + 1) % 12 == 0:
            hist.append(acc / 12)
            acc = 0.0
    print("online mse per task", " ".join("%.5f" % h for h in hist))
    print("mean |w| %.5f" % net.fc2.weight.abs().mean().item(), "replaced", gnt.replaced)


if __name__ == "__main__":
    run()
