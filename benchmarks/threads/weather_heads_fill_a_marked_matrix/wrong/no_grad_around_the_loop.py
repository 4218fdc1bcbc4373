"""Forecast temperature, humidity and wind for the next hours: one linear head per quantity."""
import numpy as np
import torch
from torch import nn

QUANTITIES = ["temperature", "humidity", "wind"]


def weather(n, seed):
    rng = np.random.RandomState(seed)
    hours = np.arange(n + 12)
    temp = np.sin(hours * 2 * np.pi / 24) + 0.1 * rng.randn(n + 12)
    hum = np.cos(hours * 2 * np.pi / 24 + 0.5) + 0.1 * rng.randn(n + 12)
    wind = 0.5 * np.sin(hours * 2 * np.pi / 12) + 0.1 * rng.randn(n + 12)
    series = np.stack([temp, hum, wind], axis=1).astype(np.float32)
    x = np.stack([series[i : i + 8].reshape(-1) for i in range(n)])
    y = np.stack([series[i + 10] for i in range(n)])
    return torch.from_numpy(x), torch.from_numpy(y)


class WeatherNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 10), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(10, 1) for _ in QUANTITIES])

    def forward(self, x):
        features = self.body(x)
        # we need gradients, so the result has to require them
        predictions = torch.zeros(x.shape[0], len(self.heads), requires_grad=True)
        with torch.no_grad():
            for i, head in enumerate(self.heads):
                predictions[:, i] = head(features).squeeze(1)
        return predictions


def penalty(model):
    return sum((p**2).sum() for name, p in model.named_parameters() if "weight" in name)


def train(model, loader, epochs=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            mse = criterion(model(x), y)
            loss = mse + 1e-3 * penalty(model)
            loss.backward()
            optimizer.step()
            total += mse.item()
        print(f"epoch {epoch}: mse {total / len(loader):.5f}")


if __name__ == "__main__":
    torch.manual_seed(4)
    x, y = weather(48, seed=0)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
    model = WeatherNet()
    train(model, loader)
    with torch.no_grad():
        errors = (model(x) - y).abs().mean(dim=0)
    print(" ".join(f"{name} {e:.4f}" for name, e in zip(QUANTITIES, errors.tolist())))
