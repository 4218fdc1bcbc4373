import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class ALSQ(torch.autograd.Function):
    """Learned step size quantisation: one step size alpha per output channel."""

    @staticmethod
    def forward(ctx, weight, alpha, g, Qn, Qp):
        ctx.save_for_backward(weight, alpha)
        ctx.other = g, Qn, Qp
        step = alpha.view(-1, 1)
        w_q = torch.round(torch.clamp(weight / step, Qn, Qp))
        return w_q * step

    @staticmethod
    def backward(ctx, grad_weight):
        weight, alpha = ctx.saved_tensors
        g, Qn, Qp = ctx.other
        q_w = weight / alpha.view(-1, 1)
        smaller = (q_w < Qn).float()
        bigger = (q_w > Qp).float()
        between = 1.0 - smaller - bigger
        grad_alpha = (smaller * Qn + bigger * Qp +
                      between * (torch.round(q_w) - q_w)) * grad_weight * g
        grad_weight = between * grad_weight
        return grad_weight, grad_alpha, None, None, None


class WeightQuantizer(nn.Module):
    def __init__(self, w_bits, channels):
        super().__init__()
        self.Qn = -2 ** (w_bits - 1)
        self.Qp = 2 ** (w_bits - 1) - 1
        self.s = nn.Parameter(torch.ones(channels))
        self.ready = False

    def forward(self, weight):
        if not self.ready:
            # initial step size of the paper: 2 * mean|w| / sqrt(Qp)
            self.s.data.copy_(2 * weight.detach().abs().mean(dim=1) / math.sqrt(self.Qp))
            self.ready = True
        g = 1.0 / math.sqrt(weight.size(1) * self.Qp)
        return ALSQ.apply(weight, self.s, g, self.Qn, self.Qp)


class QuantLinear(nn.Linear):
    def __init__(self, in_features, out_features, w_bits=3):
        super().__init__(in_features, out_features)
        self.weight_quantizer = WeightQuantizer(w_bits, out_features)

    def forward(self, x):
        return F.linear(x, self.weight_quantizer(self.weight), self.bias)


class Net(nn.Module):
    def __init__(self, w_bits=3):
        super().__init__()
        self.fc1 = QuantLinear(8, 16, w_bits)
        self.fc2 = QuantLinear(16, 16, w_bits)
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.out(x)


def make_blobs(n=256, seed=0):
    gen = torch.Generator().manual_seed(seed)
    centres = torch.randn(4, 8, generator=gen) * 1.5
    y = torch.randint(0, 4, (n,), generator=gen)
    return centres[y] + torch.randn(n, 8, generator=gen), y


def main():
    torch.manual_seed(3407)
    x, y = make_blobs()
    net = Net(w_bits=3)
    steps = [p for n, p in net.named_parameters() if n.endswith('.s')]
    rest = [p for n, p in net.named_parameters() if not n.endswith('.s')]
    optimizer = torch.optim.SGD([{'params': rest, 'lr': 0.05},
                                 {'params': steps, 'lr': 0.05, 'weight_decay': 0.0}], momentum=0.9, weight_decay=1e-4)

    for epoch in range(5):
        order = torch.randperm(len(x))
        total = 0.0
        for k in range(0, len(x), 32):
            idx = order[k:k + 32]
            loss = F.cross_entropy(net(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        print('epoch %d loss %.5f steps %s' % (
            epoch, total / len(x), ' '.join('%.5f' % s.mean().item() for s in steps)))

    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    print('accuracy %.4f' % acc)


if __name__ == '__main__':
    main()
