import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

# Trained ternary quantization: each quantized weight is +wp, 0 or -wn, with learned wp and wn
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


class Ternary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, scale, t):
        delta = t * w.abs().max()
        pos, neg = (w > delta).float(), (w < -delta).float()
        ctx.save_for_backward(pos, neg, scale)
        return scale[0] * pos - scale[1] * neg

    @staticmethod
    def backward(ctx, g):
        pos, neg, scale = ctx.saved_tensors
        zero = 1 - pos - neg
        g_w = g * (scale[0] * pos + scale[1] * neg + zero)
        return g_w, torch.stack([(g * pos).sum(), -(g * neg).sum()]), None


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1)
        self.conv3 = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(8, 4)

    def forward(self, x, quantized=None):
        q = quantized or {}
        x = F.relu(self.conv1(x))
        for name in ('conv2', 'conv3'):
            layer = getattr(self, name)
            w = q.get(name + '.weight', layer.weight)
            x = F.max_pool2d(F.relu(F.conv2d(x, w, layer.bias, padding=1)), 2)
        return self.fc(x.mean((2, 3)))


def get_params_grouped(model):
    quantized, other = {}, []
    for name, p in model.named_parameters():
        if name in ('conv2.weight', 'conv3.weight'):
            quantized[name] = p
        else:
            other.append(p)
    return quantized, other


class Quantizer:
    def __init__(self, model, t=0.05, lr=0.02, lr_scale=0.01):
        self.model, self.t = model, t
        self.weights, other = get_params_grouped(model)
        # one pair of scales per layer, begun at the layer's mean magnitude
        self.scaling_factors = [torch.ones(2, requires_grad=True, device=device) for w in self.weights.values()]
        self.optimizer = optim.Adam([{'params': other}, {'params': list(self.weights.values())}], lr=lr)
        self.optimizer_sf = optim.Adam(self.scaling_factors, lr=lr_scale)

    def quantize(self):
        return {n: Ternary.apply(w, s, self.t) for (n, w), s in zip(self.weights.items(), self.scaling_factors)}

    def train_step(self, x, y):
        loss = F.cross_entropy(self.model(x, self.quantize()), y)
        self.optimizer.zero_grad()
        self.optimizer_sf.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.optimizer_sf.step()
        return loss.item()


def stream(n):
    proto = torch.randn(4, 1, 8, 8)
    for _ in range(n):
        y = torch.randint(4, (12,))
        yield (proto[y] + 0.6 * torch.randn(12, 1, 8, 8)).to(device), y.to(device)


def pretrain(model, batches):
    opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in batches:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()


def main():
    torch.manual_seed(11)
    model = ConvNet().to(device)
    data = list(stream(10))
    pretrain(model, data[:4])
    quantizer = Quantizer(model)
    for i, (x, y) in enumerate(data[4:]):
        loss = quantizer.train_step(x, y)
        scales = ['%.6f' % v for s in quantizer.scaling_factors for v in s.tolist()]
        print(i, '%.6f' % loss, *scales)


if __name__ == '__main__':
    main()
