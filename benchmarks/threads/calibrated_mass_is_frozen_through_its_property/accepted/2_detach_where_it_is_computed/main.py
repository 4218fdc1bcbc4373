"""System identification of a one-axis gripper: mass, viscous damping and spring of the finger.

Stage 1: gripper hangs free (spring unhooked), only the motor force acts   -> mass and damping
Stage 2: spring hooked in, finger is released from several openings        -> spring, damping
The mass was calibrated in stage 1 and stays as it is in stage 2.
"""
import argparse

import torch

from identify.body import Gripper
from identify.fit import Fitter
from identify.records import hooked_record, free_record


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--stage1", type=int, default=16)
    p.add_argument("--stage2", type=int, default=12)
    p.add_argument("--lr", type=float, default=0.06)
    p.add_argument("--seed", type=int, default=3)
    a = p.parse_args()
    torch.manual_seed(a.seed)

    truth = dict(mass=1.30, damping=0.55, stiffness=6.0)
    body = Gripper(mass=0.8, damping=0.3, stiffness=4.0)
    fitter = Fitter(body, lr=a.lr)

    print("stage 1:", body.describe())
    fitter.run(free_record(truth), a.stage1, hooked=False)

    print("stage 2:", body.describe())
    body.freeze("mass")
    fitter.run(hooked_record(truth), a.stage2, hooked=True)

    print("result :", body.describe())
    for name, value in truth.items():
        print(f"  {name:10s} error {abs(getattr(body, name).item() - value):.6f}")


if __name__ == "__main__":
    main()
