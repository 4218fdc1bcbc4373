"""A stand-in for the video set: every person has a colour code, every frame shows it in some pose."""
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    frame: torch.Tensor
    reference: torch.Tensor
    pose: torch.Tensor


def people(n: int, tokens: int, dim: int, gen: torch.Generator):
    return torch.randn(n, tokens, dim, generator=gen)


def batches(identities, n_batches: int, size: int, gen: torch.Generator):
    n, tokens, dim = identities.shape
    for _ in range(n_batches):
        who = torch.randint(0, n, (size,), generator=gen)
        pose = torch.randn(size, 1, dim, generator=gen)
        reference = identities[who] + 0.05 * torch.randn(size, tokens, dim, generator=gen)
        frame = identities[who].roll(1, dims=1) + 0.5 * pose
        yield Batch(frame, reference, pose)
