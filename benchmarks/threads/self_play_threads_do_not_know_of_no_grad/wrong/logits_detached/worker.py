import numpy as np
import torch
from game import Game


def play_game(net, seed, lam=0.7):
    """one game against itself; returns boards, moves and lambda-targets (negamax: the value changes sign)"""
    rng = np.random.default_rng(seed)
    game = Game()
    boards, moves, values, rewards = [], [], [], []
    done = False
    while not done:
        board = torch.from_numpy(game.board.copy())
        logits, value = net(board)
        logits = logits.detach().masked_fill(torch.from_numpy(~game.legal()), -1e9)
        pi = torch.softmax(logits, -1).numpy()
        move = rng.choice(9, p=pi)
        reward, done = game.play(move)
        boards.append(board)
        moves.append(int(move))
        values.append(value)
        rewards.append(reward)
    target = torch.tensor(rewards[-1])
    targets = [target]
    for v, r in zip(reversed(values[1:]), reversed(rewards[:-1])):
        target = r - ((1 - lam) * v + lam * target)
        targets.append(target)
    return torch.stack(boards), torch.tensor(moves), torch.stack(targets[::-1])
