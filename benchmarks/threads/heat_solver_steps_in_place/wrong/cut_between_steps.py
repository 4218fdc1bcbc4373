"""Finds the conductivity of a rod from temperatures, through an explicit solver."""
import argparse
import torch


class Rod:
    def __init__(self, cells=12, dx=1.0, dt=0.2, left=1.0, right=0.0, loss=0.05):
        self.n, self.dx, self.dt, self.left, self.right, self.loss = cells, dx, dt, left, right, loss

    def initial(self):
        return torch.zeros(self.n)

    def boundary(self, u):
        u[0] = self.left
        u[-1] = self.right
        return u

    def rhs(self, u, k):
        flux = -0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1]) / self.dx
        return -(flux[1:] - flux[:-1]) / self.dx - self.loss * u[1:-1].pow(2)

    def simulate(self, k, steps, every=4):
        u, seen = self.boundary(self.initial()), []
        for i in range(1, steps + 1):
            u = u.detach().clone()
            u[1:-1] += self.dt * self.rhs(u.clone(), k)
            u = self.boundary(u)
            if i % every == 0:
                seen.append(u[2:-2:2])
        return torch.stack(seen)


class Inversion:
    def __init__(self, rod, measured, steps, smooth):
        self.rod, self.measured, self.steps, self.smooth = rod, measured, steps, smooth
        self.log_k = torch.zeros(rod.n, requires_grad=True)
        self.optimizer = torch.optim.Adam([self.log_k], lr=0.05)

    def objective(self):
        k = self.log_k.exp()
        misfit = (self.rod.simulate(k, self.steps) - self.measured).pow(2).mean()
        rough = (self.log_k[1:] - self.log_k[:-1]).pow(2).mean()
        return misfit, rough

    def fit(self, iterations):
        for it in range(iterations):
            self.optimizer.zero_grad()
            misfit, rough = self.objective()
            (misfit + self.smooth * rough).backward()
            self.optimizer.step()
            print("it %d misfit %.8f rough %.8f" % (it, misfit.item(), rough.item()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--smooth", type=float, default=1e-3)
    args = parser.parse_args()
    rod = Rod()
    with torch.no_grad():
        true_k = 1 + 0.5 * torch.sin(torch.linspace(0, 3, rod.n))
        measured = rod.simulate(true_k, args.steps).clone()
    Inversion(rod, measured, args.steps, args.smooth).fit(args.iterations)


if __name__ == "__main__":
    main()
