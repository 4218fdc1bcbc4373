"""Meta-Weight-Net on noisy labels: a small net maps the loss of a sample to its weight."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class VNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.linear1 = nn.Linear(1, hidden)
        self.linear2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear2(torch.relu(self.linear1(x))))


def build_model():
    return nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))


class Data:
    def __init__(self, noise):
        self.w, self.noise = torch.randn(6, 3), noise

    def batch(self, n, clean=False):
        x = torch.randn(n, 6)
        y = (x @ self.w).argmax(1)
        if not clean:
            flip = torch.rand(n) < self.noise
            y = torch.where(flip, torch.randint(0, 3, (n,)), y)
        return x, y


def train(steps=8, lr=0.3, meta_lr=2e-2):
    data = Data(noise=0.4)
    model, vnet = build_model(), VNet()
    optimizer_model = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    optimizer_vnet = torch.optim.Adam(vnet.parameters(), lr=meta_lr)

    for i in range(steps):
        inputs, targets = data.batch(40)
        params = dict(model.named_parameters())

        # a step of the model as a function of the weights
        cost = F.cross_entropy(functional_call(model, params, (inputs,)), targets, reduction='none')
        cost_v = cost.reshape(-1, 1)
        v_lambda = vnet(cost_v.detach())
        l_f_meta = (cost_v * v_lambda).sum() / len(cost_v)
        grads = torch.autograd.grad(l_f_meta, list(params.values()), retain_graph=True)
        fast = {n: p - lr * g for (n, p), g in zip(params.items(), grads)}

        # the weights are judged on clean data
        inputs_val, targets_val = data.batch(20, clean=True)
        l_g_meta = F.cross_entropy(functional_call(model, fast, (inputs_val,)), targets_val)
        optimizer_vnet.zero_grad()
        l_g_meta.backward()
        optimizer_vnet.step()

        # the actual step of the model
        cost_w = F.cross_entropy(model(inputs), targets, reduction='none').reshape(-1, 1)
        loss = (cost_w * v_lambda.detach()).sum() / len(cost_w)
        optimizer_model.zero_grad()
        loss.backward()
        optimizer_model.step()
        print('%d loss %.5f meta %.5f weight %.5f' % (i, loss.item(), l_g_meta.item(), v_lambda.mean().item()))


if __name__ == '__main__':
    torch.manual_seed(226)
    train()
