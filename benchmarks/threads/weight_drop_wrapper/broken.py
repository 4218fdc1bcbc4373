import torch
import torch.nn as nn
import torch.nn.functional as F


class WeightDropout(nn.Module):
    "A module that wraps another layer in which some weights will be replaced by 0 during training."

    def __init__(self, module, weight_p, layer_name='weight'):
        super().__init__()
        self.module, self.weight_p, self.layer_name = module, weight_p, layer_name
        w = getattr(module, layer_name)
        self.register_parameter(f'{layer_name}_raw', nn.Parameter(w.data))
        self._setweights()

    def _setweights(self):
        raw_w = getattr(self, f'{self.layer_name}_raw')
        keep = (torch.rand_like(raw_w) > self.weight_p).float() / (1 - self.weight_p)
        self.module._parameters[self.layer_name] = raw_w * keep

    def forward(self, x):
        self._setweights()
        return self.module(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = WeightDropout(nn.Linear(6, 16), 0.3)
        self.fc2 = WeightDropout(nn.Linear(16, 1), 0.2)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def fit(model, n=6):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(n):
        x = torch.randn(30, 6)
        loss = F.mse_loss(model(x), x[:, :1] - x[:, 1:2])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(38)
model = Net()
print('%.6f' % fit(model), '%.6f' % model.fc1.weight_raw.norm().item())
