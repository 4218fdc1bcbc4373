import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from model import UNetLike


def setup():
    path = os.path.join(tempfile.mkdtemp(prefix="ddp"), "init")
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=0, world_size=1)


def main():
    setup()
    torch.manual_seed(225)
    model = DistributedDataParallel(UNetLike(), static_graph=True)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(5):
        x = torch.randn(12, 6)
        noise = torch.randn_like(x)
        loss = F.mse_loss(model(x + noise), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{loss.item():.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
