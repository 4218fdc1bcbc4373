import torch
import torch.nn as nn
from torch.autograd import grad


class Agent(object):
    def __init__(self, game, me_first, lr):
        self.game = game
        self.me_first = me_first
        self.theta = nn.Parameter(0.1 * torch.randn(5))
        self.optimizer = torch.optim.SGD([self.theta], lr=lr)

    def values(self, other):
        """(mine, the other's)"""
        if self.me_first:
            return self.game.values(self.theta, other.theta)
        v_other, v_me = self.game.values(other.theta, self.theta)
        return v_me, v_other

    def coop(self):
        return torch.sigmoid(self.theta).detach().tolist()


class NaiveLearner(Agent):
    def objective(self, other):
        return self.values(other)[0]


class LolaAgent(Agent):
    """Learns with opponent-learning awareness: what I do now changes the step that the
    other will take, and this step changes my return."""

    def __init__(self, game, me_first, lr, lr_other):
        super(LolaAgent, self).__init__(game, me_first, lr)
        self.lr_other = lr_other

    def objective(self, other):
        v_me, v_other = self.values(other)
        # how my return reacts to the other's parameters
        dme, = grad(v_me, other.theta, create_graph=True)
        # the naive step of the other, a function of my parameters
        dother, = grad(v_other, other.theta, retain_graph=True)
        shaping = (dme * self.lr_other * dother).sum()
        return v_me + shaping
