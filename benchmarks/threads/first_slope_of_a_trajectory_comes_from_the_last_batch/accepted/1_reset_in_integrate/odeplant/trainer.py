import os

import torch


class Trainer:
    def __init__(self, field, solver, cfg):
        self.field = field
        self.solver = solver
        self.cfg = cfg
        self.optimizer = torch.optim.Adam(field.parameters(), lr=cfg["lr"])
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.9)
        self.generator = torch.Generator().manual_seed(cfg["seed"])
        self.best = float("inf")

    def loss_of(self, levels, times):
        predicted = self.solver.integrate(levels[0], times)
        fit = ((predicted[1:] - levels[1:]) ** 2).mean()
        # el error local se penaliza para que el campo aprendido no sea rígido
        return fit + self.cfg["stiffness"] * self.solver.local_error

    def train_epoch(self, records):
        self.field.train()
        total, count = 0.0, 0
        for levels in records.batches(self.cfg["batch"], self.generator):
            loss = self.loss_of(levels, records.times)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.field.parameters(), self.cfg["clip"])
            self.optimizer.step()
            total += loss.item()
            count += 1
        self.scheduler.step()
        return total / count

    @torch.no_grad()
    def evaluate(self, records):
        self.field.eval()
        losses = [self.loss_of(levels, records.times).item() for levels in records.batches(self.cfg["batch"])]
        return sum(losses) / len(losses)

    def fit(self, train, valid, folder):
        for epoch in range(self.cfg["epochs"]):
            tr = self.train_epoch(train)
            va = self.evaluate(valid)
            print(f"[{epoch:02d}] train {tr:.6f}  valid {va:.6f}  rk error {self.solver.local_error.item():.6f}")
            if va < self.best:
                self.best = va
                torch.save(self.field.state_dict(), os.path.join(folder, "field.pt"))
