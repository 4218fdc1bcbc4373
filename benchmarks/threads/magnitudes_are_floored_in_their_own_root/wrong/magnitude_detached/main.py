import torch
from torch.utils.data import DataLoader

from data import NoisySpeech
from losses import EnhancementLoss
from model import MaskNet
from solver import Solver


def main():
    torch.manual_seed(17)
    tr = DataLoader(NoisySpeech(48, seed=1), batch_size=8, shuffle=True)
    cv = DataLoader(NoisySpeech(16, seed=2), batch_size=16)
    model = MaskNet(channels=16)
    loss_fn = EnhancementLoss(fft_sizes=(64, 128), mag_weight=0.1, floor=0.05)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    Solver(model, loss_fn, optimizer, tr, cv, epochs=3).train()


if __name__ == '__main__':
    main()
