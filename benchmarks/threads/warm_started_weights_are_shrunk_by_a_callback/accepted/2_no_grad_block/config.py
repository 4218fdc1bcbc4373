from dataclasses import dataclass


@dataclass
class Config:
    seed: int = 31
    # online learning: new data arrives in rounds, the network is warm started
    rounds: int = 4
    epochs_per_round: int = 2
    samples_per_round: int = 64
    batch_size: int = 32
    dim: int = 12
    hidden: int = 20
    classes: int = 3
    lr: float = 0.01
    # shrink & perturb (Ash and Adams)
    shrink: float = 0.6
    perturb: float = 0.01
