import copy

import torch

from data import Frames
from potential import PairPotential


class Runner:
    def __init__(self, model, train, val, lr=2e-2, w_f=10.0):
        self.model, self.train_set, self.val_set, self.w_f = model, train, val, w_f
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        # threshold large on purpose, so that the lr drops in this short demo
        self.sched = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.5, patience=0, threshold=0.25)
        self.best, self.best_state = float("inf"), None

    def loss(self, e, f, e_ref, f_ref):
        return (e - e_ref).pow(2).mean() + self.w_f * (f - f_ref).pow(2).mean()

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for pos, e_ref, f_ref in self.train_set.batches(16, shuffle=True):
            loss = self.loss(*self.model(pos), e_ref, f_ref)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        total, n = 0.0, 0
        for pos, e_ref, f_ref in self.val_set.batches(16, shuffle=False):
            e = self.model.energy(pos)
            total += (e - e_ref).pow(2).mean().item() * len(e)
            n += len(e)
        return total / n

    def fit(self, epochs):
        for ep in range(epochs):
            tr = self.train_epoch()
            val = self.evaluate()
            self.sched.step(val)
            if val < self.best:
                self.best, self.best_state = val, copy.deepcopy(self.model.state_dict())
            print(f"{ep} train {tr:.5f} val {val:.5f} lr {self.opt.param_groups[0]['lr']:.5f}")
        self.model.load_state_dict(self.best_state)


if __name__ == "__main__":
    torch.manual_seed(31)
    runner = Runner(PairPotential(), Frames(48), Frames(32))
    runner.fit(5)
    print(f"best {runner.best:.5f}")
