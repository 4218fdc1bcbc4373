"""Fit an energy model to two moons-like data with sliced score matching."""
import torch
from energy import MLPEnergy
from losses import sliced_score_matching
from toy import two_arcs

torch.manual_seed(12)


def train(n_steps=40, batch=64, n_particles=2, lr=2e-3):
    data = two_arcs(256)
    energy = MLPEnergy(2, 24)
    opt = torch.optim.Adam(energy.parameters(), lr=lr)

    for step in range(n_steps):
        idx = torch.randint(len(data), (batch,))
        samples = data[idx]
        loss, tr, norm = sliced_score_matching(energy, samples, n_particles)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 10 == 0:
            print("step {:3d}  loss {:.6f}  v'Hv {:.6f}  |s|^2/2 {:.6f}".format(step + 1, loss.item(), tr, norm))
    return energy, data


def main():
    energy, data = train()
    with torch.no_grad():
        on = -energy(data).mean().item()
        off = -energy(torch.rand(256, 2) * 6 - 3).mean().item()
    print('log p (unnormalised): data {:.6f}, box {:.6f}'.format(on, off))


if __name__ == '__main__':
    main()
