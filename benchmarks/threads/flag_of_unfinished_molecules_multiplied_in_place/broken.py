# -*- coding: utf-8 -*-
# REINVENT風の分子生成: GRUがSMILESもどきを1文字ずつ生成し、事前モデルからのずれと報酬で学習する
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(42)
np.random.seed(42)

VOCAB = ["<GO>", "<EOS>", "C", "N", "O", "c", "1", "(", ")", "="]
GO, EOS = 0, 1
CFG = dict(emb=12, hidden=24, batch=16, max_len=10, steps=8, sigma=4.0, lr=5e-3)


class MultiGRU(nn.Module):
    def __init__(self, voc, emb, hidden):
        super().__init__()
        self.embedding = nn.Embedding(voc, emb)
        self.gru_1 = nn.GRUCell(emb, hidden)
        self.gru_2 = nn.GRUCell(hidden, hidden)
        self.linear = nn.Linear(hidden, voc)
        self.hidden = hidden

    def forward(self, x, h):
        x = self.embedding(x)
        h1 = self.gru_1(x, h[0])
        h2 = self.gru_2(h1, h[1])
        return self.linear(h2), (h1, h2)

    def init_h(self, n):
        return torch.zeros(n, self.hidden), torch.zeros(n, self.hidden)


class RNN:
    """prior / agent のラッパー"""

    def __init__(self, cfg):
        self.rnn = MultiGRU(len(VOCAB), cfg["emb"], cfg["hidden"])
        self.cfg = cfg

    def likelihood(self, seqs):
        """既存の系列の対数尤度 (EOSまで、EOSを含む)"""
        n, length = seqs.shape
        x = torch.full((n,), GO)
        h = self.rnn.init_h(n)
        total = torch.zeros(n)
        before_end = (seqs == EOS).long().cumsum(1) - (seqs == EOS).long() == 0
        for t in range(length):
            logits, h = self.rnn(x, h)
            lp = F.log_softmax(logits, -1).gather(1, seqs[:, t:t + 1]).squeeze(1)
            total = total + before_end[:, t].float() * lp
            x = seqs[:, t]
        return total

    def sample(self, n):
        """系列をサンプルし、(系列, 対数尤度, エントロピー) を返す"""
        x = torch.full((n,), GO)
        h = self.rnn.init_h(n)
        alive = torch.ones(n)
        log_probs, entropy = torch.zeros(n), torch.zeros(n)
        seqs = []
        for _ in range(self.cfg["max_len"]):
            logits, h = self.rnn(x, h)
            dist = Categorical(logits=logits)
            x = dist.sample()
            log_probs += alive * dist.log_prob(x)
            entropy += alive * dist.entropy()
            seqs.append(torch.where(alive > 0, x, torch.full_like(x, EOS)))
            # 終了した分子はここから先を数えない
            alive *= (x != EOS).float()
            if alive.sum() == 0:
                break
        return torch.stack(seqs, 1), log_probs, entropy


def score(seqs):
    """おもちゃの報酬: ヘテロ原子の割合、括弧のつり合い、長さ"""
    s = seqs.numpy()
    hetero = np.isin(s, [3, 4]).mean(1)
    balance = np.abs((s == 7).sum(1) - (s == 8).sum(1))
    length = (s != EOS).sum(1)
    return torch.tensor(np.clip(hetero + 0.05 * length - 0.1 * balance, 0, 1), dtype=torch.float32)


def train_agent(cfg):
    prior, agent = RNN(cfg), RNN(cfg)
    agent.rnn.load_state_dict(prior.rnn.state_dict())
    for p in prior.rnn.parameters():
        p.requires_grad = False
    with torch.no_grad():
        prior.rnn.linear.bias[EOS] += 0.5
        agent.rnn.linear.bias[EOS] += 0.5
    optimizer = torch.optim.Adam(agent.rnn.parameters(), lr=cfg["lr"])

    for step in range(cfg["steps"]):
        seqs, agent_lp, entropy = agent.sample(cfg["batch"])
        prior_lp = prior.likelihood(seqs)
        reward = score(seqs)
        augmented = prior_lp + cfg["sigma"] * reward
        loss = torch.pow(augmented - agent_lp, 2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 1:
            print("step %d  loss %.5f  reward %.5f  len %.3f" % (
                step, loss.item(), reward.mean().item(), (seqs != EOS).float().sum(1).mean().item()))
    return agent


if __name__ == "__main__":
    agent = train_agent(CFG)
    with torch.no_grad():
        seqs, lp, _ = agent.sample(64)
    print("mean log-likelihood %.5f  reward %.5f" % (lp.mean().item(), score(seqs).mean().item()))
