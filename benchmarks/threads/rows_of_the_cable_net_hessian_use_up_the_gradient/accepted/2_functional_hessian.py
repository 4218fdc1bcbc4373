"""
Equilibrium of a cable net: find the positions of the free nodes that minimise
elastic energy + gravity, with (damped) Newton steps. Second part: tune the
rest length of the cables so that the net sags to a given depth.

No nn.Module here, only tensors.
"""
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

NX, NZ_START = 5, -0.05
STIFFNESS = 80.0
WEIGHT = 0.6
DAMPING = 1e-3


def make_net():
    # a strip of NX free nodes between two anchors, and a stay cable in the middle
    left = torch.tensor([0.0, 0.0])
    right = torch.tensor([float(NX + 1), 0.5])
    stay = torch.tensor([2.0, -1.5])
    nodes = torch.stack([torch.arange(1.0, NX + 1), torch.full((NX,), NZ_START)], dim=1)
    return left, right, stay, nodes


LEFT, RIGHT, STAY, START = make_net()


def energy(flat, rest):
    """flat: [2*NX] coordinates of the free nodes"""
    pts = torch.cat([LEFT[None], flat.view(NX, 2), RIGHT[None]])
    length = (pts[1:] - pts[:-1]).norm(dim=1)
    elastic = 0.5 * STIFFNESS * ((length - rest) ** 2).sum()
    stay_length = (pts[2] - STAY).norm()
    elastic = elastic + 0.1 * STIFFNESS * (stay_length - 1.2) ** 2
    gravity = WEIGHT * flat.view(NX, 2)[:, 1].sum()
    return elastic + gravity


def gradient_and_hessian(flat, rest):
    flat = flat.detach().requires_grad_(True)
    E = energy(flat, rest)
    g = torch.autograd.grad(E, flat, create_graph=True)[0]
    H = torch.autograd.functional.hessian(lambda q: energy(q, rest), flat.detach())
    return E.item(), g.detach(), H


def newton(rest, n_iter=6, verbose=False):
    flat = START.reshape(-1).clone()
    for it in range(n_iter):
        E, g, H = gradient_and_hessian(flat, rest.detach())
        # the net may be slack at first: lift negative curvature
        shift = max(0.0, -torch.linalg.eigvalsh(H)[0].item()) + DAMPING
        step = torch.linalg.solve(H + shift * torch.eye(len(g)), -g)
        step = step * min(1.0, 0.5 / step.norm().item())
        flat = flat + step
        if verbose:
            print('  newton %d  E %.6f  |g| %.6f' % (it, E, g.norm().item()))
    return flat, H + DAMPING * torch.eye(len(g))


def sag_loss(flat, target):
    return (flat.view(NX, 2)[:, 1].mean() - target) ** 2


def main():
    rest = torch.full((NX + 1,), 1.0, requires_grad=True)
    flat, _ = newton(rest, verbose=True)
    print('sag %.6f' % flat.view(NX, 2)[:, 1].mean().item())

    # implicit differentiation: d flat / d rest = -H^-1 d2E / (d flat d rest)
    opt = torch.optim.Adam([rest], lr=0.01)
    target = -0.4
    for k in range(8):
        flat, H = newton(rest)
        x = flat.detach().requires_grad_(True)
        loss = sag_loss(x, target)
        dx = torch.autograd.grad(loss, x)[0]
        adjoint = torch.linalg.solve(H, dx)
        gx = torch.autograd.grad(energy(x, rest), x, create_graph=True)[0]
        opt.zero_grad()
        (-(gx * adjoint).sum()).backward()
        opt.step()
        if k % 2 == 1:
            print('iter %d  loss %.6f  mean rest length %.6f' % (k, loss.item(), rest.mean().item()))


if __name__ == '__main__':
    main()
