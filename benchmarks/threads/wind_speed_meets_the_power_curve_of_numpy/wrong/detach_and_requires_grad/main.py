# Predict the wind speed at hub height from the weather forecast, but train on the power
# that the turbine has really produced (that's what we get paid for).
import numpy as np
import torch
from torch import nn

import forecast_data
from turbine import PowerCurve

SEED = 21
torch.manual_seed(SEED)
np.random.seed(SEED)


class WindNet(nn.Module):
    def __init__(self, n_features, n_hidden=24):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, n_hidden), nn.ReLU(),
            nn.Linear(n_hidden, 1), nn.Softplus(),
        )
        nn.init.constant_(self.layers[2].bias, 7.)   # start near the mean wind

    def forward(self, x):
        return self.layers(x).squeeze(1)   # m/s


def run_epoch(model, curve, X, P, opt=None, batch_size=32):
    losses = []
    order = np.random.permutation(len(X)) if opt else np.arange(len(X))
    for i in range(0, len(X), batch_size):
        idx = order[i:i + batch_size]
        speed = model(X[idx])
        power = curve(speed)
        loss = nn.functional.mse_loss(power, P[idx])
        if opt:
            loss.requires_grad_(True)
            opt.zero_grad()
            loss.backward()
            opt.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def main():
    curve = PowerCurve()
    X, P = forecast_data.load(curve)
    n_train = 160
    model = WindNet(X.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(6):
        train_loss = run_epoch(model, curve, X[:n_train], P[:n_train], opt)
        with torch.no_grad():
            val_loss = run_epoch(model, curve, X[n_train:], P[n_train:])
        print(f'epoch {epoch}  train {train_loss:.6f}  val {val_loss:.6f}')


if __name__ == '__main__':
    main()
