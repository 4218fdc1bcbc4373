import math

import torch


def generalized_he_init(tensor: torch.Tensor, basis) -> None:
    """He initialisation of expansion coefficients, ring by ring, as a ring of many taps adds up more variance."""
    out_channels, in_channels, _ = tensor.shape
    for ring, taps in enumerate(basis.taps_per_ring()):
        std = math.sqrt(2.0 / (in_channels * taps * basis.num_rings))
        tensor[:, :, ring] = torch.randn(out_channels, in_channels) * std


def deltaorthonormal_init(tensor: torch.Tensor, basis) -> None:
    """Only the centre of the kernel acts at first."""
    torch.nn.init.zeros_(tensor)
    torch.nn.init.orthogonal_(tensor[:, :, 0])
