import numpy as np
import torch


class EpisodeReplay:
    """Whole episodes, all of the same length."""

    def __init__(self, cfg, n_episodes):
        rng = np.random.RandomState(5)
        shape = (n_episodes, cfg.t_max + 1, cfg.n_agents)
        self.obs = torch.from_numpy(rng.randn(*shape, cfg.obs_dim).astype("float32"))
        self.actions = torch.from_numpy(rng.randint(0, cfg.n_actions, shape))
        joint = np.tanh(self.obs.numpy()[..., 0].sum(-1) - 0.3 * self.actions.numpy().sum(-1))
        self.reward = torch.from_numpy(joint.astype("float32"))

    def sample(self, n):
        idx = np.random.choice(len(self.obs), n, replace=False)
        return {"obs": self.obs[idx], "actions": self.actions[idx], "reward": self.reward[idx]}
