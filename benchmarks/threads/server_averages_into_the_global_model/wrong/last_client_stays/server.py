import torch
import torch.nn.functional as F


class Server(object):
    """FedAvg: the global model becomes the mean of the local ones, weighted by the number of samples."""

    def __init__(self, model, clients):
        self.model = model
        self.clients = clients

    def run_round(self):
        losses = []
        for client in self.clients:
            client.download(self.model)
            losses.append(client.local_update())
        self.aggregate()
        return sum(losses) / len(losses)

    def aggregate(self):
        total = float(sum(len(c) for c in self.clients))
        for p in self.model.parameters():
            p.data.zero_()
        for client in self.clients:
            share = len(client) / total
            for p, q in zip(self.model.parameters(), client.model.parameters()):
                p.data = q.data.clone()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        n, s = 0, 0.0
        for c in self.clients:
            s += F.cross_entropy(self.model(c.x), c.y, reduction="sum").item()
            n += len(c)
        return s / n
