from dataclasses import dataclass


@dataclass
class Config:
    image_size: int = 16
    patch_size: int = 4
    in_chans: int = 1
    num_classes: int = 3
    embed_dim: int = 32
    depth: int = 2
    num_heads: int = 4
    mlp_ratio: float = 2.0
    drop_rate: float = 0.1
    batch_size: int = 32
    epochs: int = 3
    lr: float = 2e-3
    weight_decay: float = 0.05
    seed: int = 0
