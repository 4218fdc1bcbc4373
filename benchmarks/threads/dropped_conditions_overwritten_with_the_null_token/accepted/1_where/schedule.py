import torch


class Schedule:
    def __init__(self, T, beta_1=1e-3, beta_T=0.2):
        self.T = T
        self.beta = torch.linspace(beta_1, beta_T, T)
        self.alpha = 1 - self.beta
        self.alpha_bar = torch.cumprod(self.alpha, 0)

    def q_sample(self, x0, t, noise):
        ab = self.alpha_bar[t][:, None]
        return ab.sqrt() * x0 + (1 - ab).sqrt() * noise
