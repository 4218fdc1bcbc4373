import argparse
from dataclasses import dataclass
from typing import List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    d_model: int = 8
    n_layer: int = 2
    d_state: int = 4
    expand: int = 2
    d_conv: int = 3

    def __post_init__(self):
        self.d_inner = self.expand * self.d_model


@dataclass
class InferenceCache:
    conv_state: torch.Tensor  # (batch, d_inner, d_conv)
    ssm_state: torch.Tensor  # (batch, d_inner, d_state)

    @staticmethod
    def alloc(batch: int, a: ModelArgs) -> "InferenceCache":
        return InferenceCache(torch.zeros(batch, a.d_inner, a.d_conv), torch.zeros(batch, a.d_inner, a.d_state))


class MambaBlock(nn.Module):
    def __init__(self, a: ModelArgs):
        super().__init__()
        self.a = a
        self.in_proj = nn.Linear(a.d_model, 2 * a.d_inner, bias=False)
        self.conv_weight = nn.Parameter(torch.randn(a.d_inner, a.d_conv) * 0.4)
        self.conv_bias = nn.Parameter(torch.zeros(a.d_inner))
        self.x_proj = nn.Linear(a.d_inner, 2 * a.d_state + 1, bias=False)
        self.dt_proj = nn.Linear(1, a.d_inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, a.d_state + 1).float()).repeat(a.d_inner, 1))
        self.D = nn.Parameter(torch.ones(a.d_inner))
        self.out_proj = nn.Linear(a.d_inner, a.d_model, bias=False)

    def step(self, u: torch.Tensor, cache: InferenceCache) -> torch.Tensor:
        """One token: (batch, d_model) -> (batch, d_model); the cache moves on by one."""
        x, z = self.in_proj(u).chunk(2, dim=-1)

        # convolution over the last d_conv tokens
        cache.conv_state = torch.cat([cache.conv_state[:, :, 1:].detach(), x.unsqueeze(-1)], dim=-1)
        x = (cache.conv_state * self.conv_weight).sum(-1) + self.conv_bias
        x = F.silu(x)

        # selective state space
        dt, B, C = self.x_proj(x).split([1, self.a.d_state, self.a.d_state], dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        dA = torch.exp(dt.unsqueeze(-1) * -self.A_log.exp())
        dBx = (dt * x).unsqueeze(-1) * B.unsqueeze(1)
        cache.ssm_state = cache.ssm_state.detach() * dA + dBx
        y = (cache.ssm_state * C.unsqueeze(1)).sum(-1) + self.D * x
        return self.out_proj(y * F.silu(z))


class Mamba(nn.Module):
    def __init__(self, a: ModelArgs, n_features: int):
        super().__init__()
        self.a = a
        self.embed = nn.Linear(n_features, a.d_model)
        self.layers = nn.ModuleList(MambaBlock(a) for _ in range(a.n_layer))
        self.norms = nn.ModuleList(nn.LayerNorm(a.d_model) for _ in range(a.n_layer))
        self.head = nn.Linear(a.d_model, n_features)

    def step(self, value: torch.Tensor, caches: List[InferenceCache]) -> torch.Tensor:
        h = self.embed(value)
        for layer, norm, cache in zip(self.layers, self.norms, caches):
            h = h + layer.step(norm(h), cache)
        return value + self.head(h)

    def roll_out(self, context: torch.Tensor, horizon: int) -> torch.Tensor:
        """Reads the context, then feeds its own predictions back."""
        caches = [InferenceCache.alloc(len(context), self.a) for _ in self.layers]
        out: Optional[torch.Tensor] = None
        for t in range(context.shape[1]):
            out = self.step(context[:, t], caches)
        preds = [out]
        for _ in range(horizon - 1):
            out = self.step(out, caches)
            preds.append(out)
        return torch.stack(preds, 1)


def oscillators(n: int, length: int) -> torch.Tensor:
    phase, w = torch.rand(n, 1) * 6.28, 0.3 + 0.3 * torch.rand(n, 1)
    arg = w * torch.arange(length) + phase
    return torch.stack([torch.sin(arg), torch.cos(arg) * 0.5], -1)


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--context", type=int, default=8)
    p.add_argument("--horizon", type=int, default=4)
    p.add_argument("--epochs", type=int, default=4)
    o = p.parse_args()

    torch.manual_seed(0)
    series = oscillators(48, o.context + o.horizon)
    model = Mamba(ModelArgs(), n_features=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    for epoch in range(o.epochs):
        losses = []
        for batch in series.split(16):
            pred = model.roll_out(batch[:, : o.context], o.horizon)
            loss = F.mse_loss(pred, batch[:, o.context :])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.6f}")


if __name__ == "__main__":
    main()
