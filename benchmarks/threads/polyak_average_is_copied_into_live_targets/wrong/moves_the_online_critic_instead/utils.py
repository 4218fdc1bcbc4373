import numpy as np
import torch


def to_tensor(x):
    return torch.as_tensor(np.asarray(x), dtype=torch.float32)


def hard_update(target, source):
    """Copies the weights of source into target."""
    target.load_state_dict(source.state_dict())


def soft_update(target, source, tau):
    """Moves the weights of target a small step towards source."""
    for target_param, param in zip(target.parameters(), source.parameters()):
        param.data.copy_(target_param.data * (1.0 - tau) + param.data * tau)
