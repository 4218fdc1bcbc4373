from dataclasses import dataclass


@dataclass
class Config:
    seed: int = 201
    obs: int = 5
    actions: int = 4
    hidden: int = 24
    horizon: int = 64
    epochs: int = 4
    pi_iters: int = 3
    clip: float = 0.2
    pi_lr: float = 1e-2
    penalty_lr: float = 0.1
    penalty_init: float = 0.5
    cost_limit: float = 0.1
