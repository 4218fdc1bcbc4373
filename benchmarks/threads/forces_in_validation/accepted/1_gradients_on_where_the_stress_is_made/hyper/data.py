import torch


class UniaxialTests:
    """Stretches and stresses of a Mooney-Rivlin material."""

    def __init__(self, n, c1=0.6, c2=0.2):
        lam = 0.7 + 0.9 * torch.rand(n, 3)
        lam = lam / lam.prod(1, keepdim=True) ** (1 / 3)
        l = lam.clone().requires_grad_()
        psi = c1 * (l.pow(2).sum(1) - 3) + c2 * (l.pow(-2).sum(1) - 3)
        stress, = torch.autograd.grad(psi.sum(), l)
        self.lam, self.stress = lam, stress + 0.02 * torch.randn_like(stress)

    def train(self):
        return self.lam[:36], self.stress[:36]

    def val(self):
        return self.lam[36:], self.stress[36:]
