import tempfile, os
import torch
from torch import nn
import torch.nn.functional as F
import torch.distributed as dist


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        self.main_head = nn.Linear(12, 3)
        self.aux_head = nn.Linear(12, 3)

    def forward(self, x, warmup):
        h = self.trunk(x)
        if warmup:
            return self.main_head(h), self.aux_head(h)
        return self.main_head(h), None


class Runner:
    def __init__(self):
        dist.init_process_group(backend='gloo', init_method='file://' + tempfile.mkdtemp() + '/rdzv', world_size=1, rank=0)
        torch.manual_seed(43259)
        self.model = nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def run(self, iters=8, warmup=2):
        for i in range(iters):
            x = torch.randn(16, 6)
            y = x[:, :3].argmax(1)
            out, aux = self.model(x, i < warmup)
            loss = F.cross_entropy(out, y)
            if aux is not None:
                loss = loss + 0.4 * F.cross_entropy(aux, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()


r = Runner()
print('%.6f' % r.run(), '%.6f' % r.model.module.aux_head.weight.norm().item())
dist.destroy_process_group()
