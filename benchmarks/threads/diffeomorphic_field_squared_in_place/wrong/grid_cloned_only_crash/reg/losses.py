import torch


def mse(y_true, y_pred):
    return torch.mean((y_true - y_pred) ** 2)


class Grad:
    """N-D gradient loss."""

    def __init__(self, penalty="l1"):
        self.penalty = penalty

    def loss(self, flow):
        dy = torch.abs(flow[:, :, 1:, :] - flow[:, :, :-1, :])
        dx = torch.abs(flow[:, :, :, 1:] - flow[:, :, :, :-1])
        if self.penalty == "l2":
            dy, dx = dy * dy, dx * dx
        return (dx.mean() + dy.mean()) / 2.0
