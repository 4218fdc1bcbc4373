import torch
import torch.nn as nn
import torch.nn.functional as F


class FeatureExtractor:
    def __init__(self, net, layers):
        self.net, self.feats = net, []
        for i in layers:
            net[i].register_forward_hook(self._save)

    def _save(self, module, inp, out):
        self.feats.append(out)

    def __call__(self, x):
        self.net(x)
        return self.feats


def content_loss(feats, targets):
    return sum(F.mse_loss(f, t) for f, t in zip(feats, targets * (len(feats) // len(targets))))


torch.manual_seed(70)
vgg = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh()).requires_grad_(False)
with torch.no_grad():
    content = torch.randn(10, 8)
    targets = [vgg[:2](content), vgg(content)]

transfer = nn.Sequential(nn.Linear(8, 10), nn.ReLU(), nn.Linear(10, 8))
extract = FeatureExtractor(vgg, layers=(1, 3))
optimizer = torch.optim.Adam(transfer.parameters(), lr=1e-2)
for it in range(5):
    noisy = content + 0.3 * torch.randn_like(content)
    loss = content_loss(extract(transfer(noisy)), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    extract.feats = [f.detach() for f in extract.feats]
print('%.6f' % loss.item())
