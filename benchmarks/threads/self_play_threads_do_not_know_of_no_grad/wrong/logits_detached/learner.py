from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from worker import play_game


class Learner:
    def __init__(self, net, workers, games=6, lr=5e-3):
        self.net = net
        self.pool = ThreadPoolExecutor(workers)
        self.games = games
        self.opt = torch.optim.SGD(net.parameters(), lr=lr * 20)

    def collect(self, it):
        # self-play needs no graph
        with torch.no_grad():
            seeds = [1000 * it + g for g in range(self.games)]
            games = list(self.pool.map(lambda s: play_game(self.net, s), seeds))
        boards, moves, targets = (torch.cat(x) for x in zip(*games))
        return boards, moves, targets

    def update(self, batch):
        boards, moves, targets = batch
        logits, value = self.net(boards)
        adv = targets - value.detach()
        logits = logits.masked_fill(boards != 0, -1e9)
        nll = F.cross_entropy(logits, moves, reduction='none')
        policy_loss = (nll * adv).mean()
        value_loss = (targets - value).pow(2).mean()
        loss = policy_loss + value_loss
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return {'policy': policy_loss.item(), 'value': value_loss.item(), 'moves': float(len(moves))}
