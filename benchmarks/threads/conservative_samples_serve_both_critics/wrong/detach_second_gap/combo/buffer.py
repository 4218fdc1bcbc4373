import torch


class Transitions:
    FIELDS = ("observations", "actions", "rewards", "next_observations", "terminals")

    def __init__(self, **data):
        self.data = data

    def __len__(self):
        return len(self.data["rewards"])

    def sample(self, n):
        index = torch.randint(0, len(self), (n,))
        return {k: self.data[k][index] for k in self.FIELDS}


def mix(real, fake):
    return {k: torch.cat([real[k], fake[k]], 0) for k in real}


def dynamics(obs, action):
    nxt = 0.9 * obs + 0.1 * torch.sin(obs.roll(1, -1))
    nxt[:, : action.shape[-1]] += 0.3 * action
    reward = -(nxt**2).mean(-1, keepdim=True) - 0.05 * (action**2).sum(-1, keepdim=True)
    return nxt, reward


def make_dataset(n, obs_dim, action_dim):
    obs = torch.randn(n, obs_dim)
    action = torch.tanh(0.6 * torch.randn(n, action_dim) - 0.4 * obs[:, :action_dim])
    nxt, reward = dynamics(obs, action)
    return Transitions(observations=obs, actions=action, rewards=reward, next_observations=nxt,
                       terminals=(torch.rand(n, 1) < 0.05).float())


@torch.no_grad()
def fake_rollouts(policy, real, n):
    """One-step branches from real states, the stand-in for the ensemble of learned models."""
    obs = real.sample(n)["observations"]
    action, _ = policy.actor.rsample(obs)
    nxt, reward = dynamics(obs, action)
    nxt += 0.02 * torch.randn_like(nxt)
    return Transitions(observations=obs, actions=action, rewards=reward, next_observations=nxt,
                       terminals=torch.zeros(n, 1))
