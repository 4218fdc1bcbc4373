from collections import OrderedDict

import torch
import torch.nn as nn


class HyperNetwork(nn.Module):
    """Makes each client's weights from a learned embedding of the client."""

    def __init__(self, n_nodes, shapes, embed=6, hidden=16):
        super().__init__()
        self.embeddings = nn.Embedding(n_nodes, embed)
        self.mlp = nn.Sequential(nn.Linear(embed, hidden), nn.ReLU())
        self.shapes = shapes
        self.heads = nn.ModuleDict({k.replace(".", "_"): nn.Linear(hidden, s.numel()) for k, s in shapes.items()})

    def forward(self, idx):
        f = self.mlp(self.embeddings(idx)).squeeze(0)
        return OrderedDict((k, self.heads[k.replace(".", "_")](f).view(s)) for k, s in self.shapes.items())


class Server:
    def __init__(self, hnet, lr):
        self.hnet = hnet
        self.optimizer = torch.optim.SGD(hnet.parameters(), lr=lr, momentum=0.9)

    @torch.no_grad()
    def weights_for(self, client_id):
        return OrderedDict((k, v.requires_grad_()) for k, v in self.hnet(torch.tensor([client_id])).items())

    def update(self, weights, final_state):
        self.optimizer.zero_grad()
        # the client's change takes the place of the gradient by its weights
        delta_theta = OrderedDict({k: weights[k] - final_state[k] for k in weights})
        hnet_grads = torch.autograd.grad(
            list(weights.values()), self.hnet.parameters(), grad_outputs=list(delta_theta.values()), allow_unused=True)
        for p, g in zip(self.hnet.parameters(), hnet_grads):
            p.grad = g
        torch.nn.utils.clip_grad_norm_(self.hnet.parameters(), 50)
        self.optimizer.step()
