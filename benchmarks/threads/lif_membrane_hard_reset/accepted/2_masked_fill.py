import torch
import torch.nn as nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, mem, threshold):
        ctx.save_for_backward(mem)
        ctx.threshold = threshold
        return (mem > threshold).float()

    @staticmethod
    def backward(ctx, grad):
        mem, = ctx.saved_tensors
        return grad / (1 + 5 * (mem - ctx.threshold).abs()) ** 2, None


class LIF(nn.Module):
    def __init__(self, n_in, n_out, beta=0.8, threshold=0.5):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.beta = nn.Parameter(torch.tensor(beta))
        self.threshold = threshold

    def forward(self, x):
        mem, spikes = torch.zeros(x.shape[1], self.fc.out_features), []
        for t in range(len(x)):
            mem = self.beta * mem + self.fc(x[t])
            s = Spike.apply(mem, self.threshold)
            mem = mem.masked_fill(s.bool(), 0.)
            spikes.append(s + 0.1 * torch.tanh(mem))
        return torch.stack(spikes)


class SNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = LIF(5, 12), LIF(12, 2)

    def forward(self, x):
        return self.l2(self.l1(x)).sum(0)


torch.manual_seed(250)
net = SNN()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(5):
    rate = torch.rand(16, 5)
    x = (torch.rand(7, 16, 5) < rate).float()
    loss = nn.functional.cross_entropy(net(x), (rate[:, 0] > rate[:, 1]).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.6f %.6f" % (loss.item(), net.l1.beta.item()))
