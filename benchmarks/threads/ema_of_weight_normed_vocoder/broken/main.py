import copy

import torch
import torch.nn.functional as F

from layers import Vocoder

torch.manual_seed(28594)


class EMA:
    def __init__(self, model, decay=0.7):
        self.shadow = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)


model = Vocoder()
ema = EMA(model)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(6):
    mel = torch.randn(4, 3, 12)
    wav = torch.tanh(mel.sum(1, keepdim=True))
    loss = F.l1_loss(model(mel), wav)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
with torch.no_grad():
    print(f"{loss.item():.6f} {ema.shadow(mel).abs().mean().item():.6f}")
