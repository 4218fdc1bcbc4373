from dataclasses import dataclass


@dataclass
class Config:
    seed: int = 0
    dim: int = 12
    n_classes: int = 4
    z_dim: int = 6
    batch: int = 32
    epochs: int = 4
    iters: int = 3
    k_student: int = 2
    lr_s: float = 0.05
    lr_g: float = 2e-3
    w_oh: float = 1.0
    w_act: float = 0.1
    w_ie: float = 2.0
