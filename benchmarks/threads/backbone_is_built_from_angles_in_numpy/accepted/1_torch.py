"""Predicts backbone torsions from a sequence profile; trained on angles and on the
distances of the structure that the angles build (natural extension, bond by bond)."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BOND = {"N-CA": 1.458, "CA-C": 1.525, "C-N": 1.33}
ORDER = ["N-CA", "CA-C", "C-N"]
MEAN_ANGLE = {"N-CA": 2.12, "CA-C": 1.94, "C-N": 2.03}


def extend(a, b, c, length, theta, chi):
    """Position of the next atom after a, b, c."""
    bc = F.normalize(c - b, dim=0)
    n = F.normalize(torch.linalg.cross(b - a, bc), dim=0)
    m = torch.stack([bc, torch.linalg.cross(n, bc), n], dim=1)
    d = length * torch.stack([-torch.cos(theta), torch.sin(theta) * torch.cos(chi), torch.sin(theta) * torch.sin(chi)])
    return c + m @ d


class StructureBuilder:
    """Angles (residues, 2 x 3): torsions and bond angles -> atoms (3 * residues, 3)."""

    def __init__(self):
        self.start = [[0.0, 0.0, 0.0], [1.458, 0.0, 0.0], [2.0, 1.42, 0.0]]

    def build(self, torsions, bends):
        atoms = [torch.tensor(p) for p in self.start]
        for residue in range(1, len(torsions)):
            for k, bond in enumerate(ORDER):
                theta = MEAN_ANGLE[bond] + bends[residue, k]
                atoms.append(extend(*atoms[-3:], BOND[bond], theta, torsions[residue, k]))
        return torch.stack(atoms)


class AngleNet(nn.Module):
    def __init__(self, n_aa=20, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(n_aa, 12)
        self.lstm = nn.LSTM(12, hidden, batch_first=True, bidirectional=True)
        self.torsion = nn.Linear(2 * hidden, 6)
        self.bend = nn.Linear(2 * hidden, 3)

    def forward(self, seq):
        h, _ = self.lstm(self.embed(seq)[None])
        sincos = F.normalize(self.torsion(h[0]).view(-1, 3, 2), dim=-1)
        return sincos, 0.2 * torch.tanh(self.bend(h[0]))


def angles(sincos):
    return torch.atan2(sincos[..., 0], sincos[..., 1])


def pairwise(x, eps=1e-6):
    return ((x[:, None] - x[None]).pow(2).sum(-1) + eps).sqrt()


def drmsd(pred, true, cutoff=20.0):
    d, e = pairwise(pred), pairwise(true)
    mask = ((e < cutoff) & (e > 0.01)).float()
    return (((d - e) * mask).pow(2).sum() / mask.sum()).sqrt()


def protein(length, rng):
    seq = rng.randint(0, 20, length)
    helix = np.convolve(seq % 2, np.ones(3) / 3, mode="same") > 0.5
    phi = np.where(helix, -1.1, -2.1) + 0.1 * rng.randn(length)
    psi = np.where(helix, -0.8, 2.3) + 0.1 * rng.randn(length)
    omega = math.pi + 0.05 * rng.randn(length)
    torsions = np.stack([psi, omega, phi], axis=1)
    bends = 0.05 * rng.randn(length, 3)
    return torch.tensor(seq), torch.tensor(torsions).float(), torch.tensor(bends).float()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--proteins", type=int, default=3)
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--w-struct", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(6)
    rng = np.random.RandomState(6)
    builder, net = StructureBuilder(), AngleNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    data = []
    for _ in range(args.proteins):
        seq, torsions, bends = protein(args.length, rng)
        data.append({"seq": seq, "torsions": torsions, "bends": bends, "coords": builder.build(torsions, bends)})
    for epoch in range(args.epochs):
        logs = {"angle": [], "drmsd": []}
        for item in data:
            sincos, bends = net(item["seq"])
            true = torch.stack([item["torsions"].sin(), item["torsions"].cos()], -1)
            angle_loss = F.mse_loss(sincos, true) + F.mse_loss(bends, item["bends"])
            coords = builder.build(angles(sincos), bends)
            struct_loss = drmsd(coords, item["coords"])
            loss = angle_loss + args.w_struct * struct_loss / args.length
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            optimizer.step()
            logs["angle"].append(angle_loss.item())
            logs["drmsd"].append(struct_loss.item())
        plateau.step(np.mean(logs["drmsd"]))
        print(f"epoch {epoch} angle {np.mean(logs['angle']):.5f} dRMSD {np.mean(logs['drmsd']):.5f}")


if __name__ == "__main__":
    main()
