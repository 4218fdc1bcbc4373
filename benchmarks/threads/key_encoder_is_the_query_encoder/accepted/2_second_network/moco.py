"""Momentum contrast: a queue of negatives, keys from a slowly moving encoder."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, dim):
    return nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, dim))


def accuracy(logits, labels):
    return (logits.argmax(1) == labels).float().mean().item()


class MoCo(nn.Module):
    def __init__(self, n_in, dim, K, m, T):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = mlp(n_in, dim)
        self.encoder_k = mlp(n_in, dim)
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        for param_k in self.encoder_k.parameters():
            param_k.requires_grad = False  # not updated by gradient
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1.0 - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        n, ptr = keys.shape[0], int(self.queue_ptr)
        self.queue[:, ptr:ptr + n] = keys.T
        self.queue_ptr[0] = (ptr + n) % self.K

    @torch.no_grad()
    def lag(self):
        return sum((q - k).abs().sum().item() for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()))

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = (q * k).sum(1, keepdim=True)
        l_neg = q @ self.queue.clone().detach()
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        self._dequeue_and_enqueue(k)
        return logits, torch.zeros(len(logits), dtype=torch.long)
