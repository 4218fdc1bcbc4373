from dataclasses import dataclass

import torch


@dataclass
class TrainerConfig:
    learning_rate: float = 3e-4
    betas: tuple = (0.9, 0.95)
    weight_decay: float = 0.1
    grad_norm_clip: float = 1.0


def configure_optimizer(model, config):
    """decay only matrices; what is frozen does not belong into the optimizer"""
    params = [p for p in model.parameters() if p.requires_grad]
    decay, no_decay = [p for p in params if p.dim() >= 2], [p for p in params if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": config.weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=config.betas)


class Trainer:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.optimizer = configure_optimizer(model, config)
        self.callbacks = {"on_batch_end": [self.report]}

    def report(self, i, loss):
        print(f"iter {i}: loss {loss:.6f}")

    def run(self, batches):
        self.model.train()
        for i, (x, y) in enumerate(batches):
            _, loss = self.model(x, y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_norm_clip)
            self.optimizer.step()
            for cb in self.callbacks["on_batch_end"]:
                cb(i, loss.item())
