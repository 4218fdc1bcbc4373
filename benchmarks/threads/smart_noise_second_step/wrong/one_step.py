# SMART: smoothness-inducing adversarial regularisation for fine-tuning a text classifier
from itertools import count
from typing import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F


def inf_norm(x):
    return torch.norm(x, p=float('inf'), dim=-1, keepdim=True)


def kl_loss(input, target, reduction='batchmean'):
    return F.kl_div(F.log_softmax(input, dim=-1), F.softmax(target, dim=-1), reduction=reduction)


def sym_kl_loss(input, target, reduction='batchmean', alpha=1.0):
    return kl_loss(input, target, reduction) + alpha * kl_loss(target, input, reduction)


class SMARTLoss(nn.Module):
    def __init__(self, eval_fn: Callable, loss_fn: Callable, loss_last_fn: Callable = None, norm_fn: Callable = inf_norm,
                 num_steps: int = 1, step_size: float = 3e2, epsilon: float = 1e-6, noise_var: float = 1e-2) -> None:
        super().__init__()
        self.eval_fn, self.loss_fn, self.norm_fn = eval_fn, loss_fn, norm_fn
        self.loss_last_fn = loss_last_fn or loss_fn
        self.num_steps, self.step_size, self.epsilon, self.noise_var = num_steps, step_size, epsilon, noise_var

    def forward(self, embed, state):
        noise = (torch.randn_like(embed) * self.noise_var).requires_grad_()
        # Indefinite loop with counter
        for i in count():
            # Compute perturbed embed and states
            embed_perturbed = embed + noise
            state_perturbed = self.eval_fn(embed_perturbed)
            # Return final loss if last step (undetached state)
            if i == self.num_steps:
                return self.loss_last_fn(state_perturbed, state)
            # Compute perturbation loss (detached state)
            loss = self.loss_fn(state_perturbed, state.detach())
            # Compute noise gradient
            noise_gradient, = torch.autograd.grad(loss, noise, retain_graph=True)
            # Move noise towards gradient to change state as much as possible
            step = noise.detach() + self.step_size * noise_gradient
            # Normalize new noise step into norm induced ball
            noise = 0.3 * step / (self.norm_fn(step) + self.epsilon)


class Encoder(nn.Module):
    def __init__(self, vocab=40, dim=12, classes=3):
        super().__init__()
        self.embeddings = nn.Embedding(vocab, dim)
        self.mix = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.classifier = nn.Linear(2 * dim, classes)

    def from_embeddings(self, e):
        h, _ = self.mix(e)
        return self.classifier(torch.tanh(h.mean(1)))

    def forward(self, ids):
        e = self.embeddings(ids)
        return e, self.from_embeddings(e)


class SMARTClassificationModel(nn.Module):
    """task loss + weight * smoothness"""
    def __init__(self, model, weight=0.5):
        super().__init__()
        self.model, self.weight = model, weight
        self.smart = SMARTLoss(eval_fn=model.from_embeddings, loss_fn=kl_loss, loss_last_fn=sym_kl_loss)

    def forward(self, ids, labels):
        embed, state = self.model(ids)
        loss = F.cross_entropy(state, labels)
        smooth = self.smart(embed, state)
        return loss + self.weight * smooth, loss, smooth


def sentences(n):
    for _ in range(n):
        ids = torch.randint(0, 40, (10, 7))
        yield ids, (ids % 3 == 0).sum(1).clamp(max=2)


if __name__ == '__main__':
    torch.manual_seed(55)
    net = SMARTClassificationModel(Encoder())
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for k, (ids, labels) in enumerate(sentences(6)):
        total, loss, smooth = net(ids, labels)
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        print('%d task %.6f smooth %.8f' % (k, loss.item(), smooth.item()))
