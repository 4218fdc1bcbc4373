"""Policy gradient for a string generator of small molecules (toy grammar)."""
import argparse
import random
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = ["<", ">", "C", "N", "O", "c", "1", "(", ")", "="]
INDEX = {t: i for i, t in enumerate(TOKENS)}


class StackGRU(nn.Module):
    """Generator with a small differentiable stack."""

    def __init__(self, vocab, hidden=32, stack_depth=6, stack_width=8):
        super().__init__()
        self.hidden, self.depth, self.width = hidden, stack_depth, stack_width
        self.embed = nn.Embedding(vocab, 16)
        self.cell = nn.GRUCell(16 + stack_width, hidden)
        self.controls = nn.Linear(hidden, 3)
        self.push = nn.Linear(hidden, stack_width)
        self.out = nn.Linear(hidden, vocab)

    def start(self):
        return torch.zeros(1, self.hidden), torch.zeros(1, self.depth, self.width)

    def forward(self, token, state):
        h, stack = state
        a = torch.softmax(self.controls(h), dim=1)
        value = torch.tanh(self.push(h)).unsqueeze(1)
        up = torch.cat([value, stack[:, :-1]], 1)
        down = torch.cat([stack[:, 1:], torch.zeros(1, 1, self.width)], 1)
        stack = a[:, :1, None] * up + a[:, 1:2, None] * down + a[:, 2:, None] * stack
        h = self.cell(torch.cat([self.embed(token), stack[:, 0]], 1), h)
        return self.out(h), (h, stack)

    @torch.no_grad()
    def generate(self, max_len, rng):
        self.eval()
        token, state, string = torch.tensor([INDEX["<"]]), self.start(), "<"
        for _ in range(max_len):
            logits, state = self(token, state)
            p = torch.softmax(logits[0], 0).double().numpy()
            top_i = rng.choice(len(TOKENS), p=p / p.sum())
            string += TOKENS[top_i]
            if TOKENS[top_i] == ">":
                break
            token = torch.tensor([top_i])
        self.train()
        return string


def get_reward(string):
    """Balanced brackets and rings, some heteroatoms, not too long."""
    body = string.strip("<>")
    depth, ok = 0, bool(body)
    for ch in body:
        depth += (ch == "(") - (ch == ")")
        ok &= depth >= 0
    count = Counter(body)
    ok &= depth == 0 and count["1"] % 2 == 0
    hetero = (count["N"] + count["O"]) / max(len(body), 1)
    return (2.0 if ok else 0.2) + 3.0 * hetero - 0.05 * abs(len(body) - 8)


class Reinforcement:
    def __init__(self, generator, reward, lr, gamma, grad_clip):
        self.generator, self.reward = generator, reward
        self.gamma, self.grad_clip = gamma, grad_clip
        self.optimizer = torch.optim.Adadelta(generator.parameters(), lr=lr)
        self.baseline = 0.0

    def policy_gradient(self, n_batch, max_len, rng):
        rl_loss = torch.zeros(1)
        self.optimizer.zero_grad()
        total_reward = 0.0
        for _ in range(n_batch):
            trajectory = self.generator.generate(max_len, rng)
            reward = self.reward(trajectory)
            advantage = reward - self.baseline
            self.baseline = 0.9 * self.baseline + 0.1 * reward
            total_reward += reward
            state = self.generator.start()
            discounted_reward = advantage
            ids = [INDEX[ch] for ch in trajectory]
            for inp, top_i in zip(ids[:-1], ids[1:]):
                output, state = self.generator(torch.tensor([inp]), state)
                log_probs = F.log_softmax(output, dim=1)
                rl_loss -= log_probs[0, top_i] * discounted_reward
                discounted_reward = discounted_reward * self.gamma
        rl_loss = rl_loss / n_batch
        total_reward = total_reward / n_batch
        rl_loss.backward()
        norm = nn.utils.clip_grad_norm_(self.generator.parameters(), self.grad_clip)
        self.optimizer.step()
        return total_reward, rl_loss.item(), float(norm)


def pretrain(generator, corpus, epochs, lr):
    """Cross-entropy on a few known strings first."""
    optimizer = torch.optim.Adam(generator.parameters(), lr=lr)
    for _ in range(epochs):
        loss = 0.0
        for string in corpus:
            state = generator.start()
            for a, b in zip(string[:-1], string[1:]):
                logits, state = generator(torch.tensor([INDEX[a]]), state)
                loss = loss + F.cross_entropy(logits, torch.tensor([INDEX[b]]))
        optimizer.zero_grad()
        (loss / len(corpus)).backward()
        optimizer.step()
    return loss.item() / len(corpus)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=5)
    p.add_argument("--batch", type=int, default=4)
    p.add_argument("--max-len", type=int, default=12)
    p.add_argument("--gamma", type=float, default=0.97)
    args = p.parse_args()
    torch.manual_seed(1)
    random.seed(1)
    rng = np.random.RandomState(1)
    generator = StackGRU(len(TOKENS))
    nll = pretrain(generator, ["<CC(=O)N>", "<c1ccccc1>", "<CCO>"], epochs=4, lr=1e-2)
    print(f"pretrained nll {nll:.5f}")
    rl = Reinforcement(generator, get_reward, lr=1.0, gamma=args.gamma, grad_clip=5.0)
    for i in range(args.iterations):
        reward, loss, norm = rl.policy_gradient(args.batch, args.max_len, rng)
        print(f"iteration {i} reward {reward:.4f} loss {loss:.5f} grad {norm:.4f}")


if __name__ == "__main__":
    main()
