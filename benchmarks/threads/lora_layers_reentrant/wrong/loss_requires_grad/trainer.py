from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class SFTConfig:
    gradient_checkpointing: bool = False
    max_steps: int = 4
    learning_rate: float = 1e-2


class SFTTrainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        if args.gradient_checkpointing:
            model.gradient_checkpointing_enable()
        self.optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.learning_rate)

    def train(self):
        self.model.train()
        for step in range(self.args.max_steps):
            ids = (torch.randint(0, 10, (5, 1)) + 3 * torch.arange(7)) % 10
            logits = self.model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            self.optimizer.zero_grad()
            loss.requires_grad_()
            loss.backward()
            self.optimizer.step()
        return loss.item()
