from dataclasses import dataclass


@dataclass
class ModelConfig:
    vocab: int = 14
    dim: int = 16
    heads: int = 2
    layers: int = 2
    max_len: int = 12


@dataclass
class TrainConfig:
    seed: int = 299
    lr: float = 5e-3
    steps: int = 6
    batch: int = 8
    eval_every: int = 3
    warmup: int = 2
