import torch

from solver import odeint


def phase_portrait(func, ts, n=5):
    starts = torch.stack(torch.meshgrid(torch.linspace(-2, 2, n), torch.linspace(-2, 2, n), indexing="ij"), -1).view(-1, 2)
    traj = odeint(func, starts, ts)
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    for i in range(traj.shape[1]):
        plt.plot(traj[:, i, 0].numpy(), traj[:, i, 1].numpy(), lw=0.5)
    plt.savefig("portrait.png")
