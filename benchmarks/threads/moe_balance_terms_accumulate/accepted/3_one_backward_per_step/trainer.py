import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, lr=3e-3, accum=3, aux_coef=0.05, clip=None):
        self.model = model
        self.accum = accum
        self.aux_coef = aux_coef
        self.clip = clip
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
        self.history = []

    def micro_step(self, tokens):
        """one micro batch, gradients are accumulated"""
        logits = self.model(tokens[:, :-1])
        ce = F.cross_entropy(logits, tokens[:, 1:].reshape(-1))
        loss = ce + self.aux_coef * self.model.aux_loss()
        self.model.reset_aux()
        return loss / self.accum, ce.item()

    def fit(self, loader):
        self.opt.zero_grad(set_to_none=True)
        ces, total = [], 0.0
        for i, tokens in enumerate(loader, 1):
            part, ce = self.micro_step(tokens)
            total = total + part
            ces.append(ce)
            if i % self.accum:
                continue
            total.backward()
            total = 0.0
            if self.clip:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.opt.step()
            self.opt.zero_grad(set_to_none=True)
            self.model.reset_aux()
            self.history.append(sum(ces) / len(ces))
            ces = []
        return self.history
