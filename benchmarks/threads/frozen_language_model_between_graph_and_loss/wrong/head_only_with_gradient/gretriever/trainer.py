import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.params = [p for _, p in model.named_parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.params, lr=lr, weight_decay=0.05)

    def step(self, x, adj, question, answer):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x, adj, question), answer)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.params, 0.5)
        self.optimizer.step()
        return loss.item()
