"""Fit a differentiable camera pipeline (white balance -> CCM -> tone) to an expert's renderings."""
import torch
import torch.nn as nn

from data import make_batches
from isp import ISP


class Trainer:
    def __init__(self, model, lr=0.02):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def epoch(self, batches):
        total = 0.0
        for raw, target in batches:
            rendered = self.model(raw)
            loss = self.criterion(rendered, target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(batches)


def main():
    torch.manual_seed(5)
    model = ISP()
    trainer = Trainer(model)
    batches = make_batches()
    for e in range(5):
        print('epoch %d  mse %.6f' % (e, trainer.epoch(batches)))
    print('gamma %.6f  slope %.6f' % (model.tone.log_gamma.exp().item(), model.tone.slope.item()))
    print('gains', ' '.join('%.6f' % v for v in model.wb.gain.flatten().tolist()))


if __name__ == '__main__':
    main()
