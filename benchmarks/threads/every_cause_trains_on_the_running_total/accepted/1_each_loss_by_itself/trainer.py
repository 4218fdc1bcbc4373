import torch

from nets import CauseNet, SharedEncoder, cause_nll


class CompetingRisksTrainer:
    """One optimizer per cause, and one for the shared encoder, which learns from the sum over the causes."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.encoder = SharedEncoder(cfg["covariates"], cfg["width"])
        self.causes = [CauseNet(cfg["width"], cfg["bins"]) for _ in range(cfg["causes"])]
        self.opt_encoder = torch.optim.Adam(self.encoder.parameters(), lr=cfg["lr_encoder"])
        self.opt_causes = [torch.optim.Adam(c.parameters(), lr=cfg["lr_cause"]) for c in self.causes]
        self.history = []

    def train_batch(self, x, bin_, event):
        z = self.encoder(x)
        total = 0.0
        self.opt_encoder.zero_grad()
        for k, (net, opt) in enumerate(zip(self.causes, self.opt_causes), start=1):
            loss = cause_nll(net(z), bin_, event, k)
            total = total + loss.item()
            opt.zero_grad()
            loss.backward(retain_graph=True)
            opt.step()
        self.opt_encoder.step()
        self.history.append(float(total))
        return self.history[-1]

    def fit(self, x, bin_, event):
        n, b = len(x), self.cfg["batch"]
        for epoch in range(self.cfg["epochs"]):
            order = torch.randperm(n)
            s = 0.0
            for i in range(0, n, b):
                j = order[i:i + b]
                s += self.train_batch(x[j], bin_[j], event[j])
            print("epoch %d nll %.6f" % (epoch, s * b / n))
