import math

import torch

from model import clip_loss


class Trainer:
    def __init__(self, model, loader, lr=1e-2, scale_lr=0.05, max_scale=2.4):
        self.model = model
        self.loader = loader
        self.max_scale = max_scale
        decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
        no_decay = [p for n, p in model.named_parameters() if p.ndim < 2 and n != 'logit_scale']
        self.optimizer = torch.optim.AdamW([
            {'params': decay, 'weight_decay': 0.1},
            {'params': no_decay, 'weight_decay': 0.0},
            {'params': [model.logit_scale], 'weight_decay': 0.0, 'lr': scale_lr},
        ], lr=lr)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=40)

    def train_one_epoch(self, epoch):
        self.model.train()
        total, n = 0.0, 0
        for images, tokens in self.loader:
            self.optimizer.zero_grad()
            loss = clip_loss(*self.model(images, tokens))
            loss.backward()
            self.optimizer.step()

            # keep the scale bounded, as in the original paper (they use 100)
            self.model.logit_scale = torch.nn.Parameter(self.model.logit_scale.clamp(0, math.log(self.max_scale)))

            self.scheduler.step()
            total += loss.item() * len(images)
            n += len(images)
        print(f'Train Epoch: {epoch} Loss: {total / n:.4f} Logit Scale: {self.model.logit_scale.exp().item():.3f}')

    @torch.no_grad()
    def retrieval(self):
        self.model.eval()
        hits, n = 0, 0
        for images, tokens in self.loader:
            image_features, text_features, _ = self.model(images, tokens)
            best = (image_features @ text_features.t()).argmax(1)
            hits += (best == torch.arange(len(best))).sum().item()
            n += len(best)
        return hits / n

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_one_epoch(epoch)
            print(f'Eval Epoch: {epoch} R@1: {self.retrieval():.4f}')
