import numpy as np
import torch

# Ptychography by automatic differentiation: complex object and probe, far-field intensities, Poisson-like loss

torch.manual_seed(4)
rng = np.random.default_rng(4)

N_OBJ, N_PROBE, STEP = 20, 8, 3


def ground_truth():
    yy, xx = np.mgrid[0:N_OBJ, 0:N_OBJ] / N_OBJ
    phase = 0.8 * np.sin(6 * xx) * np.cos(5 * yy)
    amp = 1 - 0.3 * ((xx - 0.5) ** 2 + (yy - 0.5) ** 2 < 0.08)
    obj = torch.tensor(amp * np.exp(1j * phase), dtype=torch.cfloat)
    py, px = np.mgrid[0:N_PROBE, 0:N_PROBE] - (N_PROBE - 1) / 2
    probe = torch.tensor(np.exp(-(px ** 2 + py ** 2) / 6) * np.exp(0.1j * (px ** 2)), dtype=torch.cfloat)
    return obj, probe


def scan_positions():
    axis = range(0, N_OBJ - N_PROBE + 1, STEP)
    return [(i, j) for i in axis for j in axis]


class Ptycho:
    def __init__(self, intensities, positions, probe_guess):
        self.I, self.positions = intensities, positions
        # the object starts as free space with a little complex noise
        noise = torch.randn(N_OBJ, N_OBJ, 2, requires_grad=True)
        self.obj = 1.0 + 0.05 * torch.view_as_complex(noise)
        self.probe = probe_guess.clone().requires_grad_(True)
        self.opt = torch.optim.Adam([
            {"params": [self.obj], "lr": 0.05},
            {"params": [self.probe], "lr": 0.01},
        ])

    def exit_waves(self, idx):
        patches = [self.obj[i:i + N_PROBE, j:j + N_PROBE] for i, j in (self.positions[k] for k in idx)]
        return torch.stack(patches) * self.probe

    def forward(self, idx):
        return torch.fft.fft2(self.exit_waves(idx), norm="ortho").abs() ** 2

    def loss(self, idx):
        model, data = self.forward(idx), self.I[idx]
        return ((model + 1e-6).sqrt() - (data + 1e-6).sqrt()).pow(2).mean()

    def fit(self, epochs, batch=5):
        for epoch in range(epochs):
            order = rng.permutation(len(self.positions))
            mean, n = 0.0, 0
            for s in range(0, len(order), batch):
                idx = order[s:s + batch]
                loss = self.loss(idx)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                mean += loss.item()
                n += 1
            if epoch % 2 == 1:
                print(f"epoch {epoch}: loss {mean / n:.6f}")
        return self


def aligned_error(a, b):
    """error up to a global phase"""
    a = a * torch.exp(-1j * torch.angle((a * b.conj()).sum()))
    return ((a - b).abs().pow(2).sum() / b.abs().pow(2).sum()).sqrt().item()


if __name__ == "__main__":
    obj, probe = ground_truth()
    positions = scan_positions()
    clean = torch.stack([torch.fft.fft2(obj[i:i + N_PROBE, j:j + N_PROBE] * probe, norm="ortho").abs() ** 2 for i, j in positions])
    counts = torch.tensor(rng.poisson(500 * clean.numpy()) / 500, dtype=torch.float32)
    solver = Ptycho(counts, positions, 0.9 * probe.abs().to(torch.cfloat)).fit(6)
    inner = slice(3, N_OBJ - 3)
    print(f"object error {aligned_error(solver.obj.detach()[inner, inner], obj[inner, inner]):.5f}  probe error {aligned_error(solver.probe.detach(), probe):.5f}")
