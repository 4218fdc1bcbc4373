from dataclasses import dataclass


@dataclass
class Config:
    n_features: int = 12
    hidden: int = 32
    n_train: int = 256
    n_val: int = 96
    batch_size: int = 32
    epochs: int = 5
    lr: float = 3e-3
    momentum: float = 0.9
    seed: int = 3

    def override(self, values):
        for key, value in values.items():
            if value is not None and hasattr(self, key):
                setattr(self, key, value)
        return self
