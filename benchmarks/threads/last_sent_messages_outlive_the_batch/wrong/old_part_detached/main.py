import random

import numpy as np
import torch

from controllers.message_mac import MessageMAC
from learners.td_learner import TDLearner
from replay import EpisodeReplay


class Config:
    n_agents, obs_dim, n_actions = 3, 6, 4
    rnn_dim, msg_dim = 16, 5
    send_threshold = 0.12
    batch_size, t_max = 8, 6
    gamma, lr, target_update = 0.95, 5e-3, 3
    msg_penalty = 0.02
    updates = 7
    seed = 11


def run(cfg):
    random.seed(cfg.seed)
    np.random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    replay = EpisodeReplay(cfg, n_episodes=40)
    mac = MessageMAC(cfg)
    learner = TDLearner(mac, cfg)
    for it in range(cfg.updates):
        stats = learner.train(replay.sample(cfg.batch_size), it)
        print("update {:d} td {td:.5f} sent {sent:.4f} grad {grad:.4f}".format(it, **stats))


if __name__ == "__main__":
    run(Config)
