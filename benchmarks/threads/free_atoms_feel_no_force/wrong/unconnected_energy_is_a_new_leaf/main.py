"""Fit a small message-passing potential to energies and forces."""
import torch

from dataset import build_dataset
from potential import Potential

cfg = {
    'seed': 11,
    'cutoff': 3.0,
    'hidden': 16,
    'lr': 2e-2,
    'epochs': 6,
    'batch_size': 6,
    'energy_weight': 1.0,
    'forces_weight': 10.0,
}


def step(model, batch):
    e_loss, f_loss = 0., 0.
    for atoms in batch:
        energy, forces = model.energy_and_forces(atoms['z'], atoms['pos'])
        n = len(atoms['z'])
        e_loss = e_loss + ((energy - atoms['energy']) / n).pow(2)
        f_loss = f_loss + (forces - atoms['forces']).pow(2).mean()
    return e_loss / len(batch), f_loss / len(batch)


def main():
    torch.manual_seed(cfg['seed'])
    frames = build_dataset(cfg['seed'])
    model = Potential(cfg['cutoff'], cfg['hidden'])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg['lr'])
    gen = torch.Generator().manual_seed(cfg['seed'])
    for epoch in range(cfg['epochs']):
        order = torch.randperm(len(frames), generator=gen).tolist()
        e_sum = f_sum = 0.
        for i in range(0, len(order), cfg['batch_size']):
            batch = [frames[j] for j in order[i:i + cfg['batch_size']]]
            e_loss, f_loss = step(model, batch)
            loss = cfg['energy_weight'] * e_loss + cfg['forces_weight'] * f_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            e_sum += e_loss.item() * len(batch)
            f_sum += f_loss.item() * len(batch)
        print('epoch %d  energy mse %.6f  forces mse %.6f' % (epoch, e_sum / len(order), f_sum / len(order)))
    print('E0 H %.6f  O %.6f' % tuple(model.e0.weight.detach().flatten().tolist()))


if __name__ == '__main__':
    main()
