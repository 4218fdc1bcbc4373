import torch


class IteratedPrisonersDilemma(object):
    """Exact discounted values of two memory-one policies."""

    def __init__(self, gamma=0.9):
        self.gamma = gamma
        self.r1 = torch.tensor([-1., -3., 0., -2.])
        self.r2 = torch.tensor([-1., 0., -3., -2.])

    def values(self, theta1, theta2):
        # theta: 5 logits of cooperation - first move, then after CC, CD, DC, DD
        p1 = torch.sigmoid(theta1)
        # the second player sees the states from the other side
        p2 = torch.sigmoid(theta2)[[0, 1, 3, 2, 4]]
        start = self._joint(p1[0:1], p2[0:1]).squeeze(0)
        P = self._joint(p1[1:], p2[1:])
        visits = start @ torch.inverse(torch.eye(4) - self.gamma * P)
        norm = 1 - self.gamma
        return norm * (visits @ self.r1), norm * (visits @ self.r2)

    @staticmethod
    def _joint(a, b):
        return torch.stack([a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)], dim=1)
