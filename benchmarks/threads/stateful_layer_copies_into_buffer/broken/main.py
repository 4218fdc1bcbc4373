import torch
import torch.nn.functional as F

from layers import Forecaster

K = 6            # length of a truncated window
BATCH, DIM = 8, 3


def series(T):
    """phase shifted sines, (T, batch, dim)"""
    t = torch.arange(T).view(T, 1, 1) * 0.25
    return torch.sin(t * (0.5 + torch.rand(1, BATCH, DIM)) + 6.28 * torch.rand(1, BATCH, DIM))


class TBPTT:
    def __init__(self, model, lr=1e-2, clip=1.0):
        self.model, self.clip = model, clip
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)

    def window(self, xs, ys):
        for m in self.model.stateful():
            m.detach_states()
        loss = 0
        for x, y in zip(xs, ys):
            loss = loss + F.mse_loss(self.model(x), y)
        loss = loss / len(xs)
        self.optim.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optim.step()
        return loss.item()

    def sequence(self, seq):
        for m in self.model.stateful():
            m.reset_states()
        xs, ys = seq[:-1], seq[1:]
        return [self.window(xs[i:i + K], ys[i:i + K]) for i in range(0, len(xs), K)]


torch.manual_seed(21)
trainer = TBPTT(Forecaster(DIM, 16, BATCH))
for epoch in range(2):
    losses = trainer.sequence(series(4 * K + 1))
    print(epoch, " ".join("%.6f" % l for l in losses))
