import torch
import torch.nn as nn

from data import get_batch


class Trainer:
    def __init__(self, model, optimizer, decay, clip, bptt):
        self.model = model
        self.optimizer = optimizer
        self.decay = decay
        self.clip = clip
        self.bptt = bptt
        self.criterion = nn.CrossEntropyLoss()
        self.decayed = [n for n, _ in model.named_parameters() if "bias" not in n and not n.startswith("encoder")]

    def apply_decay(self):
        # decoupled from the gradient: no bias, no word vectors
        lr = self.optimizer.param_groups[0]["lr"]
        for name, p in self.model.named_parameters():
            if name in self.decayed:
                p.grad *= 1 - lr * self.decay

    def repackage(self, h):
        return h.detach()

    def train_epoch(self, source):
        self.model.train()
        hidden = self.model.init_hidden(source.size(1))
        total, n = 0.0, 0
        for i in range(0, source.size(0) - 1, self.bptt):
            data, targets = get_batch(source, i, self.bptt)
            hidden = self.repackage(hidden)
            output, hidden = self.model(data, hidden)
            loss = self.criterion(output, targets)

            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()
            self.apply_decay()

            total += loss.item()
            n += 1
        return total / n
