"""Movement primitives from camera features: a network predicts the weights of a ProMP, the trainer draws the scaled basis now and then."""
import copy

import torch
import torch.nn as nn


class ProMP:
    def __init__(self, num_dof, num_basis, duration, dt=0.1):
        self.num_dof, self.num_basis = num_dof, num_basis
        self.times = torch.arange(0.0, duration, dt)
        self.duration = duration
        self.params = None
        self.offset = None

    def basis(self):
        centres = torch.linspace(0, 1, self.num_basis)
        phase = (self.times / self.duration).unsqueeze(1)
        b = torch.exp(-0.5 * ((phase - centres) / 0.15) ** 2)
        return b / b.sum(1, keepdim=True)

    def update_inputs(self, params, init_pos):
        # [batch, dof * basis]
        self.params = params.view(-1, self.num_dof, self.num_basis)
        self.offset = init_pos

    def get_traj_pos(self):
        pos = torch.einsum("tb,ndb->ntd", self.basis(), self.params)
        return pos + self.offset.unsqueeze(1)

    def get_traj_vel(self):
        pos = self.get_traj_pos()
        return (pos[:, 1:] - pos[:, :-1]) / (self.times[1] - self.times[0])

    def show_scaled_basis(self):
        """Peaks of the single basis functions scaled by their weights (text instead of a plot)."""
        params, self.params = self.params, None
        dummy = copy.deepcopy(self)
        self.params = params
        peaks = []
        for k in range(self.num_basis):
            only = torch.zeros_like(self.params)
            only[..., k] = self.params[..., k]
            dummy.params = only
            peaks.append(dummy.get_traj_pos().abs().max().item())
        return peaks


class Encoder(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 20), nn.Tanh(), nn.Linear(20, n_out))

    def forward(self, x):
        return self.net(x)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.mp = ProMP(cfg["dof"], cfg["basis"], cfg["duration"])
        self.net = Encoder(cfg["features"], cfg["dof"] * cfg["basis"])
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=cfg["lr"])

    def fit(self, features, starts, demos):
        for it in range(self.cfg["iterations"]):
            params = self.net(features)
            self.mp.update_inputs(params, starts)
            if it % self.cfg["draw_every"] == 0:
                peaks = self.mp.show_scaled_basis()
                print("it", it, "basis", " ".join(f"{p:.5f}" for p in peaks))
            imitation = ((self.mp.get_traj_pos() - demos) ** 2).mean()
            smooth = (self.mp.get_traj_vel() ** 2).mean()
            shrink = (params ** 2).mean()
            loss = imitation + self.cfg["smooth"] * smooth + self.cfg["shrink"] * shrink
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(f"it {it} loss {loss.item():.6f}")


def reaching(n, mp, features):
    goal = torch.randn(n, mp.num_dof)
    start = 0.2 * torch.randn(n, mp.num_dof)
    s = (mp.times / mp.duration).view(1, -1, 1)
    demo = start.unsqueeze(1) + (goal - start).unsqueeze(1) * (3 * s ** 2 - 2 * s ** 3)
    return goal @ torch.randn(mp.num_dof, features), start, demo


if __name__ == "__main__":
    torch.manual_seed(8)
    config = {"dof": 2, "basis": 5, "duration": 1.5, "features": 6, "lr": 2e-2, "iterations": 7, "draw_every": 3, "smooth": 1e-2, "shrink": 1e-2}
    trainer = Trainer(config)
    trainer.fit(*reaching(10, trainer.mp, config["features"]))
