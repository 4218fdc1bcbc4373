#!/usr/bin/env python
"""Train a diffeomorphic registration of small 2D phantoms."""
import argparse

import torch

from reg.losses import Grad, mse
from reg.network import VxmDense
from reg.data import phantoms

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--int-steps", type=int, default=4, help="number of integration steps")
parser.add_argument("--bidir", action="store_true", default=True, help="enable bidirectional cost function")
parser.add_argument("--lambda", type=float, dest="weight", default=0.05, help="weight of deformation loss")
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--gpu", default="0")
args = parser.parse_args()

torch.manual_seed(2018)
model = VxmDense(inshape=(12, 12), int_steps=args.int_steps, bidir=args.bidir)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

for step in range(args.steps):
    moving, fixed = phantoms(2, 12)
    warped, back, preint_flow = model(moving, fixed)
    losses = [mse(fixed, warped), args.weight * Grad("l2").loss(preint_flow)]
    if args.bidir:
        losses.append(mse(moving, back))
    loss = sum(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d/%d  loss %.6f (%s)" % (step + 1, args.steps, loss.item(), ", ".join("%.6f" % l.item() for l in losses)))
