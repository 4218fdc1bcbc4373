"""Few-shot recognition of bird calls: prototypical network, episodes of N-way K-shot."""
import argparse

import numpy as np
import torch

from fewshot.episodes import BirdCalls, EpisodeSampler
from fewshot.losses import prototypical_loss
from fewshot.net import CallEncoder


def run_epoch(net, sampler, n_support, optimizer=None):
    training = optimizer is not None
    net.train(training)
    losses, accs = [], []
    for calls, labels in sampler:
        if training:
            optimizer.zero_grad()
            loss, acc = prototypical_loss(net(calls), labels, n_support)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
        else:
            with torch.no_grad():
                loss, acc = prototypical_loss(net(calls), labels, n_support)
        losses.append(loss.item())
        accs.append(acc)
    return float(np.mean(losses)), float(np.mean(accs))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--way", type=int, default=4)
    p.add_argument("--shot", type=int, default=3)
    p.add_argument("--query", type=int, default=4)
    p.add_argument("--episodes", type=int, default=6)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=31)
    a = p.parse_args()
    torch.manual_seed(a.seed)

    base = BirdCalls(range(0, 8), seed=a.seed)
    novel = BirdCalls(range(8, 13), seed=a.seed + 1)
    train = EpisodeSampler(base, a.way, a.shot + a.query, a.episodes, seed=a.seed)
    test = EpisodeSampler(novel, a.way, a.shot + a.query, 3, seed=a.seed + 5)
    net = CallEncoder(n_mels=12, width=16, dim=24)
    optimizer = torch.optim.Adam(net.parameters(), lr=a.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

    loss, acc = run_epoch(net, test, a.shot)
    print(f"untrained     novel loss {loss:.6f} acc {acc:.4f}")
    for epoch in range(a.epochs):
        tl, ta = run_epoch(net, train, a.shot, optimizer)
        vl, va = run_epoch(net, test, a.shot)
        scheduler.step()
        print(f"epoch {epoch} base loss {tl:.6f} acc {ta:.4f} | novel loss {vl:.6f} acc {va:.4f}")


if __name__ == "__main__":
    main()
