import torch
import torch.nn as nn


def trunc_normal_(w, std=.02):
    nn.init.trunc_normal_(w, std=std)


class Backbone(nn.Module):
    def __init__(self, embed_dim=32):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, embed_dim), nn.LayerNorm(embed_dim))

    def forward(self, x):
        return self.fc(x)


class DINOHead(nn.Module):
    def __init__(self, in_dim, out_dim, norm_last_layer=True, nlayers=3, hidden_dim=64, bottleneck_dim=16):
        super().__init__()
        layers = [nn.Linear(in_dim, hidden_dim), nn.GELU()]
        for _ in range(nlayers - 2):
            layers.append(nn.Linear(hidden_dim, hidden_dim))
            layers.append(nn.GELU())
        layers.append(nn.Linear(hidden_dim, bottleneck_dim))
        self.mlp = nn.Sequential(*layers)
        self.apply(self._init_weights)
        self.last_layer = nn.utils.weight_norm(nn.Linear(bottleneck_dim, out_dim, bias=False))
        # prototypes start with length one
        self.last_layer.weight_g.requires_grad = False
        self.last_layer.weight_g.fill_(1)
        if norm_last_layer:
            self.last_layer.weight_g.requires_grad = False

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            trunc_normal_(m.weight, std=.1)
            if isinstance(m, nn.Linear) and m.bias is not None:
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.mlp(x)
        x = nn.functional.normalize(x, dim=-1, p=2)
        x = self.last_layer(x)
        return x


class MultiCropWrapper(nn.Module):
    def __init__(self, backbone, head):
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, crops):
        return self.head(self.backbone(torch.cat(crops)))
