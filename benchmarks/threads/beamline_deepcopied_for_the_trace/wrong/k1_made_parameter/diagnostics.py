import copy
import torch
from beamline import Beam


def trace_reference_particle(segment, x0=0., resolution=4):
    """positions of one particle along the line, for the plot.
    Works on a copy: the elements are split into slices."""
    fine = copy.deepcopy(segment)
    fine.elements = [s for e in fine.elements for s in e.split(resolution)]
    beam = Beam(torch.tensor([[x0, 0., 0., 0.]]))
    pos, xs = [0.], [x0]
    for e in fine.elements:
        beam = e.track(beam)
        pos.append(pos[-1] + e.length)
        xs.append(beam.p[0, 0].item())
    return pos, xs
