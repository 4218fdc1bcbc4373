import torch
import torch.nn.functional as F

from .simulate import simulate


class Fitter:
    def __init__(self, body, lr):
        self.body = body
        self.optimizer = torch.optim.Adam(body.parameters(), lr=lr)

    def run(self, record, steps, hooked):
        scale = record.x.std()
        for step in range(steps):
            x = simulate(self.body, record.x0, record.v0, record.inputs, record.dt, hooked)
            loss = F.smooth_l1_loss(x / scale, record.x / scale, beta=0.5)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 3 == 0 or step == steps - 1:
                print(f"   {step:3d} loss {loss.item():.6f}  {self.body.describe()}")
