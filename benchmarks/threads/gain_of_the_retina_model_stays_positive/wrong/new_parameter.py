from abc import ABC, abstractmethod
from typing import Any, Callable, Iterator, NamedTuple

import torch
from torch import Tensor, nn


class DataPoint(NamedTuple):
    inputs: Tensor
    targets: Tensor


class PoissonLoss(nn.Module):
    def forward(self, output: Tensor, target: Tensor) -> Tensor:
        return (output - target * torch.log(output + 1e-6)).mean()


class Correlation(nn.Module):
    def forward(self, output: Tensor, target: Tensor) -> Tensor:
        o, t = output - output.mean(0), target - target.mean(0)
        return ((o * t).sum(0) / (o.norm(dim=0) * t.norm(dim=0) + 1e-8)).mean()


class ParametrizedSoftplus(nn.Module):
    """gain * log(1 + exp(slope * x + offset)), one set per neuron"""

    def __init__(self, n_neurons: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.full((n_neurons,), 0.08))
        self.slope = nn.Parameter(torch.ones(n_neurons))
        self.offset = nn.Parameter(torch.zeros(n_neurons))

    def forward(self, x: Tensor) -> Tensor:
        return self.w * torch.nn.functional.softplus(self.slope * x + self.offset) + 1e-3


class BaseModule(nn.Module, ABC):
    """As much of a Lightning module as is needed here."""

    @abstractmethod
    def training_step(self, batch: DataPoint, batch_idx: int) -> Tensor: ...

    @abstractmethod
    def configure_optimizers(self) -> torch.optim.Optimizer: ...

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: torch.optim.Optimizer,
                       optimizer_closure: Callable[[], Any]) -> None:
        optimizer.step(closure=optimizer_closure)


class SpatialContrastModel(BaseModule):
    def __init__(self, size: int, n_neurons: int, learning_rate: float = 0.03) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.receptive_field = nn.Parameter(torch.randn(n_neurons, size) / size**0.5)
        self.contrast_weight = nn.Parameter(torch.zeros(n_neurons))
        self.nonlinearity = ParametrizedSoftplus(n_neurons)
        self.loss = PoissonLoss()
        self.validation_loss = Correlation()

    def forward(self, x: Tensor) -> Tensor:
        rf = self.receptive_field / self.receptive_field.norm(dim=-1, keepdim=True)
        mean = x @ rf.T
        local = ((x.unsqueeze(1) - mean.unsqueeze(-1)) ** 2 * rf.abs()).mean(-1)
        return self.nonlinearity(mean + self.contrast_weight * local)

    def training_step(self, batch: DataPoint, batch_idx: int) -> Tensor:
        return self.loss(self(batch.inputs), batch.targets)

    def validation_step(self, batch: DataPoint) -> Tensor:
        return self.validation_loss(self(batch.inputs), batch.targets)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=self.learning_rate)

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: torch.optim.Optimizer,
                       optimizer_closure: Callable[[], Any]) -> None:
        """Override implementation to bound the gain at each training step."""
        optimizer.step(closure=optimizer_closure)

        # a negative gain would give negative firing rates
        self.nonlinearity.w = nn.Parameter(self.nonlinearity.w.clamp(min=0.0))


class Trainer:
    def __init__(self, max_epochs: int, batch_size: int) -> None:
        self.max_epochs, self.batch_size = max_epochs, batch_size

    def batches(self, data: DataPoint) -> Iterator[DataPoint]:
        for index in torch.randperm(len(data.inputs)).split(self.batch_size):
            yield DataPoint(data.inputs[index], data.targets[index])

    def fit(self, model: BaseModule, train: DataPoint, val: DataPoint) -> None:
        optimizer = model.configure_optimizers()
        for epoch in range(self.max_epochs):
            logged = []
            for i, batch in enumerate(self.batches(train)):
                def closure() -> Tensor:
                    optimizer.zero_grad()
                    loss = model.training_step(batch, i)
                    loss.backward()
                    logged.append(loss.item())
                    return loss

                model.optimizer_step(epoch, i, optimizer, closure)
            with torch.no_grad():
                val_corr = model.validation_step(val).item()
            print(f"epoch {epoch} train_loss {sum(logged) / len(logged):.5f} val_corr {val_corr:.5f}")


def recordings(n: int, size: int, n_neurons: int) -> DataPoint:
    gen = torch.Generator().manual_seed(99)
    x = torch.randn(n, size, generator=gen)
    rf = torch.randn(n_neurons, size, generator=gen) / size**0.5
    rate = 0.6 * torch.relu(x @ rf.T)
    rate[:, 0] = 0.0  # a silent cell
    return DataPoint(x, torch.poisson(rate, generator=gen))


if __name__ == "__main__":
    torch.manual_seed(1)
    data = recordings(160, size=12, n_neurons=5)
    train, val = DataPoint(*(t[:120] for t in data)), DataPoint(*(t[120:] for t in data))
    model = SpatialContrastModel(size=12, n_neurons=5)
    Trainer(max_epochs=5, batch_size=30).fit(model, train, val)
    print("gains", " ".join(f"{w:.5f}" for w in model.nonlinearity.w.tolist()))
