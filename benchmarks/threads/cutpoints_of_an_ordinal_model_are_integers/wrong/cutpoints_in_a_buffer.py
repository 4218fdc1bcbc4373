# Ordinal regression of wine-like ratings (cumulative link model on top of a small net)

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
rng = np.random.default_rng(2)

NUM_CLASSES = 5

# ---- data -------------------------------------------------------------------

X = rng.normal(size=(400, 7)).astype(np.float32)
latent = 1.3*X[:,0] - .8*X[:,1]*X[:,2] + .6*np.tanh(2*X[:,3]) + .4*rng.logistic(size=400)
y = np.digitize(latent, [-1.8, -.5, .6, 2.2])
split = 300
train = DataLoader(TensorDataset(torch.from_numpy(X[:split]), torch.from_numpy(y[:split])), batch_size=30, shuffle=True)
test_x, test_y = torch.from_numpy(X[split:]), torch.from_numpy(y[split:])


# ---- model ------------------------------------------------------------------

class LogisticCumulativeLink(nn.Module):
    """
    Converts a single number into the proportional odds of belonging to a class.
    Cutpoints are ordered and learned together with the network.
    """

    def __init__(self, num_classes, init_cutpoints='ordered'):
        super().__init__()
        num_cutpoints = num_classes - 1
        if init_cutpoints == 'ordered':
            # -2, -1, 0, 1
            cutpoints = torch.arange(num_cutpoints) - num_cutpoints//2
        elif init_cutpoints == 'random':
            cutpoints = torch.rand(num_cutpoints).sort()[0]
        else:
            raise ValueError(init_cutpoints)
        self.register_buffer('cutpoints', cutpoints.float())

    def forward(self, X):
        sigmoids = torch.sigmoid(self.cutpoints - X)
        link_mat = sigmoids[:, 1:] - sigmoids[:, :-1]
        return torch.cat((sigmoids[:, [0]], link_mat, 1 - sigmoids[:, [-1]]), dim=1)


class OrdinalNet(nn.Module):
    def __init__(self, n_features, num_classes):
        super().__init__()
        self.predictor = nn.Sequential(nn.Linear(n_features, 16), nn.ELU(), nn.Linear(16, 1, bias=False))
        self.link = LogisticCumulativeLink(num_classes)

    def forward(self, x):
        return self.link(self.predictor(x))


def cumulative_link_loss(y_pred, y_true):
    eps = 1e-15
    likelihoods = torch.clamp(torch.gather(y_pred, 1, y_true.unsqueeze(1)), eps, 1 - eps)
    return -torch.log(likelihoods).mean()


class AscensionCallback:
    """Keeps the cutpoints in ascending order after each step."""

    def __init__(self, margin=0.05):
        self.margin = margin

    def clip(self, link):
        cutpoints = link.cutpoints.data
        for i in range(len(cutpoints) - 1):
            cutpoints[i].clamp_(max=(cutpoints[i + 1] - self.margin).item())


# ---- training ---------------------------------------------------------------

model = OrdinalNet(X.shape[1], NUM_CLASSES)
ascension = AscensionCallback()
optimizer = torch.optim.Adam([
    {'params': model.predictor.parameters(), 'weight_decay': 1e-4},
    {'params': [model.link.cutpoints], 'lr': 2e-2},      # thresholds may move faster
], lr=5e-3)

for epoch in range(8):
    running = 0.
    for xb, yb in train:
        loss = cumulative_link_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ascension.clip(model.link)
        running += loss.item() * len(xb)
    if epoch % 2:
        print('epoch', epoch, 'nll %.5f' % (running/split), 'cutpoints', ' '.join('%.4f' % c for c in model.link.cutpoints.tolist()))

with torch.no_grad():
    probs = model(test_x)
    mae = (probs.argmax(1) - test_y).abs().float().mean()
    print('test nll %.5f  mae %.4f' % (cumulative_link_loss(probs, test_y).item(), mae.item()))
