"""meta-RL on toy point tasks, `python main.py`"""
import torch

from agent import PEARLAgent

CFG = dict(latent=3, lr=3e-3, gamma=0.95, alpha=0.1, kl_lambda=0.1, tau=0.05, context_size=12, batch=16, tasks=4)


class PointTasks:
    """each task is a goal on the half circle; reward = -distance to it after the move"""

    def __init__(self, n):
        ang = torch.linspace(0, 3.14159, n)
        self.goals = torch.stack([ang.cos(), ang.sin()], -1)

    def sample(self, n):
        T = self.goals.shape[0]
        obs = torch.randn(T, n, 2) * 0.5
        act = torch.rand(T, n, 2) * 2 - 1
        nxt = obs + 0.2 * act
        rew = -(nxt - self.goals[:, None]).norm(dim=-1, keepdim=True)
        return obs, act, rew, nxt


def main():
    torch.manual_seed(11)
    env = PointTasks(CFG["tasks"])
    agent = PEARLAgent(2, 2, CFG)
    for it in range(8):
        c_obs, c_act, c_rew, _ = env.sample(CFG["context_size"])
        context = torch.cat([c_obs, c_act, c_rew], -1)
        stats = agent.update(context, *env.sample(CFG["batch"]))
        if it % 2 == 1:
            print("it %d  qf %.5f  kl %.5f  pi %.5f" % (it, stats["qf"], stats["kl"], stats["pi"]))


if __name__ == "__main__":
    main()
