import torch


class PushEnv:
    """Ein Punktroboter im Quadrat. Beobachtung: verrauschtes 5x5-Bild der Position, Kosten: Abstand zum Ziel."""

    def __init__(self, seed=0, n_pix=5, sigma=0.35):
        self.gen = torch.Generator().manual_seed(seed)
        self.sigma = sigma
        axis = torch.linspace(-1, 1, n_pix)
        self.grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
        self.goal = torch.tensor([0.6, -0.4])
        self.reset()

    @property
    def obs_dim(self):
        return len(self.grid)

    def render(self, pos):
        img = torch.exp(-((self.grid - pos) ** 2).sum(-1) / (2 * self.sigma ** 2))
        return img + 0.01 * torch.randn(img.shape, generator=self.gen)

    def reset(self):
        self.pos = 2 * torch.rand(2, generator=self.gen) - 1
        return self.render(self.pos)

    def step(self, action):
        self.pos = (self.pos + 0.2 * torch.tanh(action)).clamp(-1, 1)
        cost = ((self.pos - self.goal) ** 2).sum()
        return self.render(self.pos), cost
