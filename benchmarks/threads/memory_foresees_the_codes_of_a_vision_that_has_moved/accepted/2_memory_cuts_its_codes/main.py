"""World model of Catch.

V (vision) and M (memory) are trained side by side on the same random rollouts, each with
an optimizer of its own: V learns to draw the frames and nothing else, M learns to foresee
the codes that V gives it.  The controller comes later (train_controller.py).
"""
import torch

from env import random_rollouts
from world import Memory, Vision


class WorldModelTrainer:
    def __init__(self, lr_v=3e-3, lr_m=5e-3):
        self.vision = Vision()
        self.memory = Memory()
        self.opt_v = torch.optim.Adam(self.vision.parameters(), lr=lr_v)
        self.opt_m = torch.optim.Adam(self.memory.parameters(), lr=lr_m)

    def train_batch(self, obs, act):
        z, mu, logvar = self.vision.encode(obs)

        v_loss = self.vision.loss(obs, z, mu, logvar)
        self.opt_v.zero_grad()
        v_loss.backward()
        self.opt_v.step()

        m_loss = self.memory.loss(z, act)
        self.opt_m.zero_grad()
        m_loss.backward()
        self.opt_m.step()
        return v_loss.item(), m_loss.item()


def main():
    torch.manual_seed(42)
    obs, act = random_rollouts(n=64, length=7)
    trainer = WorldModelTrainer()
    for epoch in range(6):
        perm = torch.randperm(len(obs))
        v_sum = m_sum = 0.0
        for idx in perm.split(16):
            v, m = trainer.train_batch(obs[idx], act[idx])
            v_sum, m_sum = v_sum + v, m_sum + m
        print('epoch %d | V %.6f | M %.6f' % (epoch, v_sum / 4, m_sum / 4))


if __name__ == '__main__':
    main()
