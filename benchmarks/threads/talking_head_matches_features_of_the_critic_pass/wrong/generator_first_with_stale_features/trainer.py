import copy

import torch


class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt
        self.ema = copy.deepcopy(model.netG).eval()
        for p in self.ema.parameters():
            p.requires_grad_(False)
        self.rows = []

    @torch.no_grad()
    def update_ema(self):
        for slow, fast in zip(self.ema.parameters(), self.model.netG.parameters()):
            slow.lerp_(fast, 1 - self.opt.ema)

    def run(self, clips):
        for epoch in range(self.opt.epochs):
            for data in clips:
                self.model.set_input(data)
                self.model.optimize_parameters()
                self.update_ema()
            self.rows.append({"epoch": epoch, **self.model.losses})
