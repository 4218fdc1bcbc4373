import torch

from potential.dataset import MorseClusters
from potential.schnet import TinySchNet
from potential.trainer import Trainer

if __name__ == "__main__":
    torch.manual_seed(469)
    data = MorseClusters(n_atoms=5, n_frames=40)
    model = TinySchNet(n_atom_basis=12, n_gaussians=8, cutoff=4.0, n_interactions=2)
    trainer = Trainer(model, lr=5e-3, rho=0.9)
    for step in range(6):
        loss, e_mae, f_mae = trainer.train_step(data.batch(8))
        print(f"{step} loss {loss:.6f} energy {e_mae:.6f} forces {f_mae:.6f}")
