import torch
import torch.nn as nn
import torch.nn.functional as F


class MetricLosses:
    """Pulls embeddings to the center of their class, pushes centers apart; owns the centers and their optimizer."""

    def __init__(self, classes, dim, centers_lr=0.5, push_weight=0.2):
        self.centers = nn.Parameter(torch.randn(classes, dim))
        self.centers_optimizer = torch.optim.SGD([self.centers], lr=centers_lr)
        self.push_weight = push_weight
        self.last_loss_value = None

    def init_iteration(self):
        self.centers_optimizer.zero_grad()

    def __call__(self, embeddings, labels):
        centers = F.normalize(self.centers, dim=1)
        pull = (1 - (embeddings * centers[labels]).sum(dim=1)).mean()
        similarity = centers @ centers.t() - 2 * torch.eye(len(centers))
        push = F.relu(similarity + 0.1).max(dim=1).values.mean()
        self.last_loss_value = pull + self.push_weight * push
        return self.last_loss_value, {"pull": pull.item(), "push": push.item()}

    def end_iteration(self):
        """Finalizes a training iteration: the centers make their step."""
        self.last_loss_value.backward(retain_graph=True)
        self.centers_optimizer.step()
