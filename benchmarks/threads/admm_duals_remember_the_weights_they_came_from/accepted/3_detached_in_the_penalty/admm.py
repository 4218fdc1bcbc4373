import torch


def prune_mask(x, percent):
    """1 where |x| is above its percentile, 0 elsewhere"""
    k = max(1, int(percent * x.numel()))
    threshold = x.abs().flatten().kthvalue(k).values
    return (x.abs() > threshold).float()


class ADMM:
    """
    min f(W) + g(Z)  s.t. W = Z, g = indicator of "at most so many non-zeros".
        W: SGD on the loss + rho/2 ||W - Z + U||^2
        Z: projection of W + U
        U: U + W - Z
    """

    def __init__(self, model, percent, rho):
        self.rho = rho
        self.percent = {}
        self.Z, self.U = {}, {}
        weights = [(n, p) for n, p in model.named_parameters() if n.endswith('weight')]
        assert len(weights) == len(percent)
        for (name, p), q in zip(weights, percent):
            self.percent[name] = q
            self.Z[name] = p.detach().clone()
            self.U[name] = torch.zeros_like(p)

    def penalty(self, model):
        loss = 0.
        for name, p in model.named_parameters():
            if name in self.Z:
                loss = loss + self.rho / 2 * (p - self.Z[name].detach() + self.U[name].detach()).pow(2).sum()
        return loss

    def update(self, model):
        for name, p in model.named_parameters():
            if name in self.Z:
                z = p + self.U[name]
                self.Z[name] = z * prune_mask(z, self.percent[name])
                self.U[name] = self.U[name] + p - self.Z[name]

    @torch.no_grad()
    def residuals(self, model):
        params = dict(model.named_parameters())
        primal = sum((params[n] - z).pow(2).sum().item() for n, z in self.Z.items()) ** 0.5
        dual = sum(u.pow(2).sum().item() for u in self.U.values()) ** 0.5
        return primal, dual

    @torch.no_grad()
    def apply(self, model):
        """hard pruning at the end, returns the masks for the retraining"""
        masks = {}
        for name, p in model.named_parameters():
            if name in self.Z:
                masks[name] = prune_mask(p, self.percent[name])
                p.mul_(masks[name])
        return masks
