import torch
import torch.nn.functional as F


class Client(object):
    def __init__(self, idx, shard, model, args):
        self.idx, self.args = idx, args
        self.x, self.y = shard
        self.model = model

    def __len__(self):
        return len(self.x)

    def download(self, global_model):
        self.model.load_state_dict(global_model.state_dict())

    def local_update(self):
        self.model.train()
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.args.lr, momentum=0.5)
        losses = []
        for _ in range(self.args.local_ep):
            for i in range(0, len(self.x), self.args.local_bs):
                j = i + self.args.local_bs
                loss = F.cross_entropy(self.model(self.x[i:j]), self.y[i:j])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        return sum(losses) / len(losses)
