"""Fits the biomechanical skeleton to a captured body sequence."""
import argparse

import torch

from body import SurfaceBody
from config import STAGES, FitConfig
from fitter import SkeletonFitter
from skeleton import Skeleton


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--frames", type=int, default=6)
    p.add_argument("--seed", type=int, default=11)
    p.add_argument("--device", default="cpu")
    return p.parse_args()


def load_sequence(frames, generator):
    """Stands in for the AMASS sample: pose and translation per frame."""
    t = torch.linspace(0.0, 1.0, frames)[:, None]
    phase = torch.rand(1, 9, generator=generator) * 6.28
    pose = 0.4 * torch.sin(6.28 * t + phase)
    trans = torch.cat([t, 0.1 * torch.cos(6.28 * t), torch.zeros_like(t)], dim=1)
    return {"pose": pose, "trans": trans}


def main():
    args = parse()
    torch.manual_seed(args.seed)
    g = torch.Generator().manual_seed(args.seed)
    body = SurfaceBody(n_verts=40, n_betas=4).to(args.device)
    skel = Skeleton(n_verts=40, n_joints=5, n_betas=4).to(args.device)
    seq = load_sequence(args.frames, g)
    cfg = FitConfig(device=args.device)
    fitter = SkeletonFitter(body, skel, cfg)
    history = fitter.run_fit(seq, STAGES)
    for stage, losses in history.items():
        print(f"{stage:10s} first {losses[0]:.5f} last {losses[-1]:.5f}")
    print("betas", " ".join(f"{b:.4f}" for b in fitter.result["betas"].flatten().tolist()))


if __name__ == "__main__":
    main()
