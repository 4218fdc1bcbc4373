"""Narrow-band beamformer for a linear array: the complex weights are found by gradient descent,
starting from delay-and-sum. Sidelobes are pressed down, the look direction stays at 0 dB."""
import argparse
import math

import torch


def steering_matrix(n_mics, spacing, angles):
    """exp(-2 pi i d sin(theta)), (angles, mics)"""
    phase = -2 * math.pi * spacing * torch.sin(angles).unsqueeze(1) * torch.arange(n_mics).float().unsqueeze(0)
    return torch.complex(torch.cos(phase), torch.sin(phase))


class Beamformer:
    def __init__(self, n_mics, spacing, look):
        self.n_mics, self.spacing = n_mics, spacing
        a = steering_matrix(n_mics, spacing, torch.tensor([look]))[0]
        # pesos iniciales: retardo y suma, con un poco de ruido
        self.w_re = (a.real / n_mics + 0.02 * torch.randn(n_mics)).requires_grad_()
        self.w_im = (a.imag / n_mics + 0.02 * torch.randn(n_mics)).requires_grad_()
        self.w = torch.complex(self.w_re, self.w_im)

    def parameters(self):
        return [self.w]

    def response(self, angles):
        A = steering_matrix(self.n_mics, self.spacing, angles)
        return A @ self.w.conj()

    def white_noise_gain(self):
        return self.w.abs().pow(2).sum()


class BeamLoss:
    def __init__(self, look, width, n_angles, wng_weight):
        grid = torch.linspace(-math.pi / 2, math.pi / 2, n_angles)
        self.side = grid[(grid - look).abs() > width]
        self.look = torch.tensor([look])
        self.wng_weight = wng_weight

    def __call__(self, bf):
        side = bf.response(self.side).abs().pow(2)
        target = bf.response(self.look)
        distortion = (target.real - 1).pow(2).sum() + target.imag.pow(2).sum()
        peak = torch.logsumexp(20 * side, dim=0) / 20
        loss = side.mean() + 0.2 * peak + 4 * distortion + self.wng_weight * bf.white_noise_gain()
        return loss, side.max()


def optimise(args):
    torch.manual_seed(args.seed)
    look = math.radians(args.look)
    bf = Beamformer(args.mics, args.spacing, look)
    criterion = BeamLoss(look, math.radians(args.width), args.angles, args.wng)
    optimizer = torch.optim.Adam(bf.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
    for it in range(args.iters):
        optimizer.zero_grad()
        loss, worst = criterion(bf)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"{it:3d} loss {loss.item():.6f} worst sidelobe {10 * math.log10(worst.item()):.4f} dB")
    return bf


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mics", type=int, default=6)
    parser.add_argument("--spacing", type=float, default=0.5, help="in wavelengths")
    parser.add_argument("--look", type=float, default=10.0)
    parser.add_argument("--width", type=float, default=18.0)
    parser.add_argument("--angles", type=int, default=61)
    parser.add_argument("--wng", type=float, default=0.05)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--iters", type=int, default=8)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--plot", action="store_true")
    bf = optimise(parser.parse_args())
    print("gain %.6f" % bf.response(torch.tensor([0.1])).abs().item())
