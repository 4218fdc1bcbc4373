import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.cls, self.reg = nn.Linear(16, 3), nn.Linear(16, 1)
        self.log_var = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.trunk(x)
        return self.cls(h), self.reg(h).squeeze(1)


def main():
    store = os.path.join(tempfile.mkdtemp(), "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)
    torch.manual_seed(63)
    model = DDP(MultiTask(), find_unused_parameters=True)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(6):
        x = torch.randn(24, 8)
        logits, value = model(x)
        losses = torch.stack([F.cross_entropy(logits, x[:, :3].argmax(1)), F.mse_loss(value, x[:, 3] * 2)])
        log_var = model.module.log_var
        loss = losses.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("loss %.6f log_var %.6f %.6f" % (loss.item(), *model.module.log_var.tolist()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
