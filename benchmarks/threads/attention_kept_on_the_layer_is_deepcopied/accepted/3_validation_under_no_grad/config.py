from dataclasses import dataclass


@dataclass
class Config:
    seed: int = 31
    length: int = 14
    units: int = 12
    attention_width: int = 0  # 0: global
    reg_weight: float = 0.5
    lr: float = 0.08
    batch_size: int = 16
    epochs: int = 7
    patience: int = 10
    verbose: bool = True
