from .data import make_bags, split
from .model import SentenceVAE
from .trainer import AggressiveTrainer

__all__ = ["make_bags", "split", "SentenceVAE", "AggressiveTrainer"]
