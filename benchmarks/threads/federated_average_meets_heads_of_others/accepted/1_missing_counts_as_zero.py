# -*- coding: utf-8 -*-
# 联邦学习 (FedSGD): 共享主干 + 每个科室一个分类头
# 每轮每个客户端上传一次梯度, 服务器加权平均后更新
import argparse
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DEPARTMENTS = ["cardio", "derma", "neuro"]


class MultiHeadNet(nn.Module):
    def __init__(self, d_in=10, hidden=16, n_cls=3):
        super(MultiHeadNet, self).__init__()
        self.trunk = nn.Sequential(nn.Linear(d_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.ModuleDict({d: nn.Linear(hidden, n_cls) for d in DEPARTMENTS})

    def forward(self, x, dept):
        return self.heads[dept](self.trunk(x))


class Client:
    """一家医院, 只有部分科室的数据"""
    def __init__(self, cid, depts, n, seed):
        rng = np.random.RandomState(seed + cid)
        self.cid = cid
        self.data = {}
        for d in depts:
            k = DEPARTMENTS.index(d)
            x = rng.randn(n, 10).astype("float32")
            w = np.random.RandomState(100 + k).randn(10, 3)
            y = (x @ w + 0.3 * rng.randn(n, 3)).argmax(1)
            self.data[d] = (torch.from_numpy(x), torch.from_numpy(y))
        self.size = n * len(depts)

    def compute_gradient(self, global_model):
        model = copy.deepcopy(global_model)
        model.zero_grad()
        loss = 0
        for d, (x, y) in self.data.items():
            loss = loss + F.cross_entropy(model(x, d), y)
        loss = loss / len(self.data)
        loss.backward()
        return [p.grad for p in model.parameters()], loss.item()


class Server:
    def __init__(self, clients, lr):
        self.model = MultiHeadNet()
        self.clients = clients
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr)

    def aggregate(self, grads, sizes):
        """按样本数加权平均"""
        total = float(sum(sizes))
        avg = []
        for per_param in zip(*grads):
            g_avg = None
            for g, n in zip(per_param, sizes):
                if g is None:      # 该客户端没有这个科室
                    continue
                g = (n / total) * g
                g_avg = g if g_avg is None else g_avg + g
            avg.append(g_avg)
        return avg

    def run_round(self, r, per_round):
        rng = np.random.RandomState(1000 + r)
        chosen = rng.choice(len(self.clients), per_round, replace=False)
        grads, sizes, losses = [], [], []
        for c in chosen:
            g, l = self.clients[c].compute_gradient(self.model)
            grads.append(g)
            sizes.append(self.clients[c].size)
            losses.append(l)
        avg = self.aggregate(grads, sizes)
        self.opt.zero_grad()
        for p, g in zip(self.model.parameters(), avg):
            p.grad = g
        self.opt.step()
        return float(np.average(losses, weights=sizes))

    @torch.no_grad()
    def accuracy(self):
        hit = cnt = 0
        for c in self.clients:
            for d, (x, y) in c.data.items():
                hit += (self.model(x, d).argmax(1) == y).sum().item()
                cnt += len(y)
        return hit / cnt


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--per_round", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=17)
    opt = parser.parse_args()
    torch.manual_seed(opt.seed)

    layout = [["cardio"], ["cardio", "derma"], ["derma", "neuro"], ["neuro"], ["cardio", "derma", "neuro"]]
    clients = [Client(i, d, 20 + 6 * i, opt.seed) for i, d in enumerate(layout)]
    server = Server(clients, opt.lr)
    for r in range(opt.rounds):
        loss = server.run_round(r, opt.per_round)
        if r % 3 == 0:
            print("round %d: loss %.6f" % (r, loss))
    print("accuracy %.4f" % server.accuracy())
    for d in DEPARTMENTS:
        print(d, "head norm %.6f" % server.model.heads[d].weight.norm().item())
