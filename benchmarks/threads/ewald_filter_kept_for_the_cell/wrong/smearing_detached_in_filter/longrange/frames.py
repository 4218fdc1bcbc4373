from dataclasses import dataclass

import torch


@dataclass
class Frame:
    positions: torch.Tensor
    types: torch.Tensor
    cell: torch.Tensor
    energy: torch.Tensor


def make_frames(atoms=5):
    frames = []
    for edge in (3.0, 3.0, 3.2, 3.2):  # NVT at two densities
        frames.append(Frame(torch.rand(atoms, 3) * edge, torch.randint(0, 3, (atoms,)), edge * torch.eye(3), torch.randn(())))
    return frames
