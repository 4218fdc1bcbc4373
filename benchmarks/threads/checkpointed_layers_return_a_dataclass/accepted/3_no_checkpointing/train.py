import torch
import torch.nn.functional as F

TRAINED = ("adapters", "router")


class Trainer:
    def __init__(self, model, lr, balance_weight=0.1):
        self.model = model
        self.balance_weight = balance_weight
        for name, p in model.named_parameters():
            p.requires_grad_(any(key in name for key in TRAINED))
        self.optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr, weight_decay=0.0)

    def epoch(self, batches):
        losses, balances = [], []
        for tokens in batches:
            logits, balance = self.model(tokens[:, :-1])
            lm = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            loss = lm + self.balance_weight * balance
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(lm.item())
            balances.append(float(balance))
        return sum(losses) / len(losses), sum(balances) / len(balances)
