"""Personalised federated learning with a hypernetwork."""
import random
from dataclasses import dataclass

import torch

from fed.client import Client, target_net
from fed.server import HyperNetwork, Server


@dataclass
class Args:
    clients: int = 3
    rounds: int = 6
    inner_steps: int = 3
    inner_lr: float = 0.05
    lr: float = 0.05
    seed: int = 42


def main(args):
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    clients = [Client(i) for i in range(args.clients)]
    shapes = {k: v.shape for k, v in target_net().state_dict().items()}
    server = Server(HyperNetwork(args.clients, shapes), args.lr)
    for r in range(args.rounds):
        node = rng.randrange(args.clients)
        weights = server.weights_for(node)
        final_state, loss = clients[node].train(weights, args.inner_steps, args.inner_lr)
        server.update(weights, final_state)
        print("round %d node %d loss %.6f" % (r, node, loss))
    print("embeddings %.6f" % server.hnet.embeddings.weight.norm().item())


if __name__ == "__main__":
    main(Args())
