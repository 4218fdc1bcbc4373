from dataclasses import dataclass, field, replace
from typing import List, Optional
import torch
from torch import nn, Tensor

@dataclass
class FilterState:
    belief: Tensor
    gain: Tensor
    traces: List[Tensor] = field(default_factory=list)
    step: int = 0

class DeepFilter(nn.Module):
    def __init__(self, d_obs=3, d=6):
        super().__init__()
        self.d = d
        self.predict = nn.Linear(d, d)
        self.gain = nn.Sequential(nn.Linear(2 * d, d), nn.Sigmoid())
        self.embed = nn.Linear(d_obs, d)
        self.readout = nn.Linear(2 * d, d_obs)

    def initial(self, batch):
        z = torch.zeros(batch, self.d)
        return FilterState(z, z.clone(), [z.clone(), z.clone()])

    def forward(self, obs: Tensor, state: Optional[FilterState] = None):
        state = state or self.initial(obs.shape[1])
        outs = []
        for o in obs:
            prior = torch.tanh(self.predict(state.belief))
            e = self.embed(o)
            g = 0.5 * state.gain + 0.5 * self.gain(torch.cat((prior, e), 1))
            belief = prior + g * (e - prior)
            traces = [t * decay + (1 - decay) * belief for t, decay in zip(state.traces, (0.5, 0.9))]
            outs.append(self.readout(torch.cat((belief, traces[1]), 1)))
            state = replace(state, belief=belief, gain=g, traces=traces, step=state.step + 1)
        return torch.stack(outs), state

torch.manual_seed(12)
model = DeepFilter()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
signal = torch.cumsum(0.3 * torch.randn(31, 4, 3), 0)
state = None
for k in range(6):
    chunk = signal[5 * k:5 * k + 6]
    pred, state = model(chunk[:-1], state)
    loss = (pred - chunk[1:]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    state = replace(state, belief=state.belief.detach())
print("%.6f %.6f %d" % (loss.item(), state.traces[1].norm().item(), state.step))
