"""
Fully neural network point process: the net gives the cumulative hazard Phi(tau | history) of the time to the next
event, its derivative is the intensity.  Phi must grow with tau, so all weights on the way from tau are kept >= 0;
following the paper, a weight that an update makes negative is replaced by its absolute value.
"""
import torch, math
from torch import nn
import torch.nn.functional as F

HISTORY = 8

# ---------------------------------------------------------------- data

def hawkes(n_events, mu=0.4, alpha=0.6, beta=1.5, seed=0):
    """Ogata's thinning."""
    g = torch.Generator().manual_seed(seed)
    t, excitation, times = 0.0, 0.0, []
    while len(times) < n_events:
        bound = mu + excitation
        step = -math.log(1 - torch.rand(1, generator=g).item()) / bound
        t += step
        excitation *= math.exp(-beta * step)
        if torch.rand(1, generator=g).item() * bound <= mu + excitation:
            times.append(t)
            excitation += alpha * beta
    return torch.tensor(times)

def rolling(times):
    gaps = times.diff()
    rows = gaps.unfold(0, HISTORY + 1, 1)
    return rows[:, :-1], rows[:, -1:]

# ---------------------------------------------------------------- model

class NonNegLinear(nn.Linear):
    def reset_parameters(self):
        nn.init.uniform_(self.weight, 0.0, 2.0 / self.in_features)
        if self.bias is not None: nn.init.zeros_(self.bias)

class CumulativeHazard(nn.Module):
    def __init__(self, hidden=16, width=16):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, batch_first=True)
        self.from_history = nn.Linear(hidden, width)
        self.from_tau = NonNegLinear(1, width, bias=False)
        self.middle = NonNegLinear(width, width)
        self.last = NonNegLinear(width, 1)

    def monotone_layers(self):
        return [self.from_tau, self.middle, self.last]

    def fold(self):
        for layer in self.monotone_layers():
            layer.weight.requires_grad_(False)
            layer.weight.abs_()

    def phi(self, history, tau):
        h = torch.tanh(self.from_tau(tau) + self.from_history(history))
        h = torch.tanh(self.middle(h))
        return F.softplus(self.last(h))

    def forward(self, gaps, tau):
        _, history = self.rnn(gaps.log1p().unsqueeze(-1))
        tau = tau.clone().requires_grad_(True)
        phi = self.phi(history[-1], tau)
        hazard = torch.autograd.grad(phi.sum(), tau, create_graph=True)[0]
        return phi, hazard

def nll(phi, hazard):
    return (phi - torch.log(hazard + 1e-10)).mean()

# ---------------------------------------------------------------- training

def fit(model, gaps, tau, epochs, batch=64, lr=2e-2):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        order = torch.randperm(len(tau))
        total = 0.0
        for i in order.split(batch):
            phi, hazard = model(gaps[i], tau[i])
            loss = nll(phi, hazard)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.fold()
            total += loss.item() * len(i)
        smallest = min(l.weight.min().item() for l in model.monotone_layers())
        print('epoch', epoch, ' nll %.5f' % (total / len(tau)), ' smallest weight %.5f' % smallest)

if __name__ == '__main__':
    torch.manual_seed(13)
    gaps, tau = rolling(hawkes(400))
    fit(CumulativeHazard(), gaps, tau, epochs=4)
