import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 48


def telemetry(n, seed=0):
    """A machine's sensors: slow cycles, noise and a few faults."""
    rng = np.random.RandomState(seed)
    t = np.arange(n)
    data = np.stack([np.sin(t / 23.0), np.cos(t / 11.0), np.sin(t / 5.0) * np.cos(t / 97.0), rng.randn(n) * 0.1], axis=1)
    for at in rng.randint(n // 2, n, size=8):
        data[at : at + 20] += rng.randn(4)
    return data.astype(np.float32)


def windows(data):
    return torch.from_numpy(np.stack([data[i : i + WINDOW] for i in range(len(data) - WINDOW)]))


class LSTMAutoencoder(nn.Module):
    def __init__(self, n_features=4, embedding=32):
        super().__init__()
        self.encoder = nn.LSTM(n_features, embedding, num_layers=2, batch_first=True)
        self.decoder = nn.LSTM(embedding, embedding, num_layers=2, batch_first=True)
        self.output = nn.Linear(embedding, n_features)

    def forward(self, x):
        _, (h, _) = self.encoder(x)
        z = h[-1].unsqueeze(1).repeat(1, x.size(1), 1)
        return self.output(self.decoder(z)[0])


class Detector:
    def __init__(self, lr=1e-3):
        self.model = LSTMAutoencoder()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.criterion = nn.L1Loss(reduction="sum")

    def fit(self, data, epochs):
        loader = DataLoader(TensorDataset(windows(data)), batch_size=64, shuffle=True)
        for epoch in range(epochs):
            self.model.train()
            losses = []
            for (batch,) in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(batch), batch)
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            print(f"Epoch {epoch}: train loss {np.mean(losses):.3f}")

    def score(self, data):
        self.model.eval()
        errors = []
        for window in windows(data):
            rebuilt = self.model(window.unsqueeze(0))
            errors.append((rebuilt - window).abs().mean().numpy())
        return np.array(errors)

    def threshold(self, data, quantile=0.995):
        return float(np.quantile(self.score(data), quantile))


if __name__ == "__main__":
    torch.manual_seed(7)
    detector = Detector()
    history = telemetry(400)
    detector.fit(history, epochs=2)
    limit = detector.threshold(history)
    for day in range(30):
        stream = telemetry(900, seed=day + 1)
        scores = detector.score(stream)
        found = int((scores > limit).sum())
        print(f"day {day}: {found} windows above {limit:.3f}")
        detector.fit(stream[: len(stream) // 2], epochs=1)
        limit = 0.9 * limit + 0.1 * detector.threshold(history)
