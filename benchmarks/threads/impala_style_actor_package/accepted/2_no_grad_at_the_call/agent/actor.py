import torch
from torch.distributions import Categorical


class Actor:
    """Plays a batch of little games and hands over what happened."""

    def __init__(self, net, length, batch=4):
        self.net, self.length = net, length
        self.obs = torch.randn(batch, 3)
        self.state = net.initial_state(batch)

    def unroll(self):
        out = {"state0": self.state, "obs": [], "action": [], "reward": [], "mu": [], "value": []}
        for _ in range(self.length):
            with torch.no_grad():
                logits, value, self.state = self.net(self.obs, self.state)
            action = Categorical(logits=logits).sample()
            out["obs"].append(self.obs)
            out["action"].append(action)
            out["mu"].append(logits)
            out["value"].append(value)
            out["reward"].append((self.obs[:, 0] > 0).eq(action.bool()).float())
            self.obs = 0.5 * self.obs + 0.5 * torch.randn_like(self.obs)
        return {k: v if k == "state0" else torch.stack(v) for k, v in out.items()}
