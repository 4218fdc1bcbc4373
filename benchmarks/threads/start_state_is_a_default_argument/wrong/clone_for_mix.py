import torch
from torch import nn

HIDDEN = 6


class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(3, HIDDEN)
        self.mix = nn.Linear(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, sequence, state=torch.zeros(4, HIDDEN)):
        total = 0
        for x in sequence:
            total = total + self.mix(state.clone())
            state.mul_(0.9).add_(self.inp(x).tanh().detach())
        return self.out(total.tanh() + state)


torch.manual_seed(2)
model = Leaky()
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for step in range(8):
    sequence = torch.randn(5, 4, 3)
    wanted = sequence.sum((0, 2)).unsqueeze(1).tanh()
    loss = nn.functional.mse_loss(model(sequence), wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
