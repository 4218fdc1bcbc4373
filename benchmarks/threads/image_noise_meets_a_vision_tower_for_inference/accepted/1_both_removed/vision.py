import torch
from torch import nn
import torch.nn.functional as F


class VisionTower(nn.Module):
    """Frozen patch encoder; features of the last layer but one are selected."""

    def __init__(self, dim, patch=4, layers=2):
        super().__init__()
        self.mean, self.std = 0.5, 0.25
        self.patches = nn.Conv2d(3, dim, patch, patch)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({
                "norm": nn.LayerNorm(dim),
                "mix": nn.MultiheadAttention(dim, 2, batch_first=True),
                "mlp": nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)),
            })
            for _ in range(layers)
        )

    def feature_select(self, hidden_states, layer=-1):
        return hidden_states[layer]

    def forward(self, images):
        x = self.patches((images - self.mean) / self.std).flatten(2).transpose(1, 2)
        hidden_states = [x]
        for block in self.blocks:
            h = block["norm"](x)
            x = x + block["mix"](h, h, h, need_weights=False)[0]
            x = x + block["mlp"](F.layer_norm(x, x.shape[-1:]))
            hidden_states.append(x)
        return self.feature_select(hidden_states)
