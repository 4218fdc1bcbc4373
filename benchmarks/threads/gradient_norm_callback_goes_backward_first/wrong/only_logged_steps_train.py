"""A tiny training framework with callbacks; tabular regression (stand-in for the sensor table)."""
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


class Callback:
    def on_loss(self, trainer, loss: Tensor) -> None: ...
    def on_step_end(self, trainer, loss: float) -> None: ...
    def on_epoch_end(self, trainer, epoch: int) -> None: ...


@dataclass
class GradientNormLogger(Callback):
    """Keeps the norm of the loss's gradient for each layer, every few steps."""
    every: int = 4
    history: list = field(default_factory=list)

    def on_loss(self, trainer, loss):
        if trainer.global_step % self.every:
            return
        loss.backward()
        norms = {}
        for name, p in trainer.model.named_parameters():
            layer = name.rsplit(".", 1)[0]
            norms[layer] = norms.get(layer, 0.0) + p.grad.pow(2).sum().item()
        self.history.append({layer: v ** 0.5 for layer, v in norms.items()})

    def on_epoch_end(self, trainer, epoch):
        last = self.history[-1]
        print("    |grad| " + "  ".join(f"{layer} {norm:.5f}" for layer, norm in last.items()))


@dataclass
class LossPrinter(Callback):
    total: float = 0.0
    count: int = 0

    def on_step_end(self, trainer, loss):
        self.total += loss
        self.count += 1

    def on_epoch_end(self, trainer, epoch):
        print(f"epoch {epoch}: loss {self.total / self.count:.6f}")
        self.total, self.count = 0.0, 0


class Trainer:
    def __init__(self, model, optimizer, criterion, callbacks=()):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.callbacks = list(callbacks)
        self.global_step = 0

    def _call(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def training_step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        self._call("on_loss", loss)
        self.optimizer.step()
        self.global_step += 1
        self._call("on_step_end", loss.item())

    def fit(self, loader, epochs):
        self.model.train()
        for epoch in range(epochs):
            for x, y in loader:
                self.training_step(x, y)
            self._call("on_epoch_end", epoch)


class Regressor(nn.Module):
    def __init__(self, n_features, hidden=16):
        super().__init__()
        self.first = nn.Linear(n_features, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        x = torch.tanh(self.second(x))
        return self.head(x).squeeze(-1)


def sensor_table(n=240):
    gen = torch.Generator().manual_seed(8)
    x = torch.randn(n, 6, generator=gen)
    y = torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * torch.randn(n, generator=gen)
    return torch.utils.data.TensorDataset(x, y)


def main():
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(sensor_table(), batch_size=24, shuffle=True)
    model = Regressor(6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    trainer = Trainer(model, optimizer, nn.MSELoss(), [LossPrinter(), GradientNormLogger()])
    trainer.fit(loader, epochs=4)


if __name__ == "__main__":
    main()
