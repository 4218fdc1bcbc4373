import numpy as np
import torch

from kernels import SquaredExponential
from svgp import SVGP


def data(n=120):
    rng = np.random.RandomState(9)
    x = np.sort(rng.uniform(-2, 2, n))
    y = np.sin(3 * x) + 0.4 * x + 0.2 * rng.randn(n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = data()
    gp = SVGP(SquaredExponential(lengthscale=0.5), Z=torch.linspace(-1.9, 1.9, 8))
    optimizer = torch.optim.Adam(gp.parameters, lr=0.02)
    for step in range(80):
        batch = torch.randint(len(x), (40,))
        optimizer.zero_grad()
        loss = -gp.elbo(x[batch], y[batch], len(x))
        loss.backward()
        optimizer.step()
        if (step + 1) % 20 == 0:
            print('step %3d  -ELBO %.6f' % (step + 1, loss.item()))

    with torch.no_grad():
        mean, var = gp.predict(x)
        print('rmse %.6f  mean sd %.6f' % ((mean - y).pow(2).mean().sqrt().item(), var.sqrt().mean().item()))
        print('lengthscale %.6f  noise %.6f' % (gp.kernel.log_lengthscale.exp().item(), gp.log_noise.exp().item()))


if __name__ == '__main__':
    main()
