# -*- coding: utf-8 -*-
"""
最早的图神经网络 (Scarselli 2009) 的线性版本
每个节点的状态由邻居的状态迭代 T 次得到, 收缩映射保证不动点
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
np.random.seed(7)

# (节点, 标签), 边
N = [(i, (0, 1, 2)[i % 3]) for i in range(12)]
E = [(i, j) for i in range(12) for j in range(i + 1, 12) if (i % 3 == j % 3 and (i + j) % 2 == 0) or (i * 7 + j) % 11 == 0]


# Xi: 由相邻两节点的特征得到 s*s 的转移矩阵
class Xi(nn.Module):
    def __init__(self, ln, s):
        super(Xi, self).__init__()
        self.ln = ln
        self.s = s
        self.linear1 = nn.Linear(2 * ln, ln)
        self.linear2 = nn.Linear(ln, s ** 2)
        self.tanh = nn.Tanh()

    def forward(self, X):
        out = self.linear1(X)
        out = self.tanh(self.linear2(out))
        return out.view(-1, self.s, self.s)


# Rou: 由节点特征得到偏置 b
class Rou(nn.Module):
    def __init__(self, ln, s):
        super(Rou, self).__init__()
        self.linear = nn.Linear(ln, s)
        self.tanh = nn.Tanh()

    def forward(self, X):
        return self.tanh(self.linear(X))


# Hw: 一次信息传递
class Hw(nn.Module):
    def __init__(self, ln, s, mu=0.9):
        super(Hw, self).__init__()
        self.s = s
        self.mu = mu
        self.Xi = Xi(ln, s)
        self.Rou = Rou(ln, s)

    def forward(self, X, H, dg_list):
        A = self.Xi(X) * self.mu / self.s / dg_list.view(-1, 1, 1)
        b = self.Rou(X[:, :X.size(1) // 2])
        return torch.squeeze(torch.matmul(A, torch.unsqueeze(H, 2)), -1) + b


class AggrSum(nn.Module):
    def __init__(self, node_num):
        super(AggrSum, self).__init__()
        self.V = node_num

    def forward(self, H, X_node):
        mask = torch.stack([X_node] * self.V, 0)
        mask = (mask == torch.arange(self.V).view(-1, 1)).float()
        return torch.mm(mask, H)


class OriLinearGNN(nn.Module):
    def __init__(self, node_num, feat_dim, stat_dim, class_num, T):
        super(OriLinearGNN, self).__init__()
        self.T = T
        self.node_features = nn.Parameter(torch.randn(node_num, feat_dim), requires_grad=False)
        # 节点状态, 初始为 0, 之后每一轮都从上一轮的不动点附近开始迭代
        self.node_states = torch.zeros((node_num, stat_dim))
        self.linear = nn.Linear(feat_dim + stat_dim, class_num)
        self.Hw = Hw(feat_dim, stat_dim)
        self.Aggr = AggrSum(node_num)

    def forward(self, X_Node, X_Neis, dg_list):
        X = torch.cat((self.node_features[X_Node], self.node_features[X_Neis]), 1)
        self.node_states = torch.zeros_like(self.node_states)
        for t in range(self.T):
            H = torch.index_select(self.node_states, 0, X_Neis)
            H = self.Hw(X, H, dg_list)
            self.node_states = self.Aggr(H, X_Node)
        out = self.linear(torch.cat((self.node_features, self.node_states), 1))
        return F.log_softmax(out, -1)


def train(node_list, edge_list, label_list, T, n_epoch=8):
    both = edge_list + [(v, u) for u, v in edge_list]
    X_Node = torch.tensor([u for u, _ in both])
    X_Neis = torch.tensor([v for _, v in both])
    degree = torch.bincount(X_Node, minlength=len(node_list)).float()
    dg_list = degree[X_Node]
    labels = torch.tensor(label_list)
    train_mask = torch.tensor([i < 8 for i in range(len(node_list))])

    model = OriLinearGNN(len(node_list), 4, 3, 3, T)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.03, weight_decay=0.01)
    for ep in range(n_epoch):
        model.train()
        optimizer.zero_grad()
        out = model(X_Node, X_Neis, dg_list)
        loss = F.nll_loss(out[train_mask], labels[train_mask])
        # 不加 retain_graph 会报错 backward a second time
        loss.backward(retain_graph=True)
        optimizer.step()
        acc = (out.argmax(1) == labels)[~train_mask].float().mean()
        print('epoch %d loss %.6f test acc %.4f' % (ep, loss.item(), acc.item()))
    return model


if __name__ == '__main__':
    train([x[0] for x in N], E, [x[1] for x in N], T=3)
