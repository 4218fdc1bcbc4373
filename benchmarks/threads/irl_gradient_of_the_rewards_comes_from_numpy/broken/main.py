import numpy as np
import torch

from gridworld import Corridor
from irl import MaxEntIRL
from planning import empirical_svf, sample_trajectories, soft_value_iteration

CONFIG = dict(size=5, slip=0.1, horizon=8, demos=40, iterations=13, seed=3)


def main(cfg):
    torch.manual_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    world = Corridor(cfg["size"], cfg["slip"])
    start = np.zeros(world.n_states)
    start[-cfg["size"]:] = 1 / cfg["size"]

    expert = soft_value_iteration(world.P, 3 * world.true_reward(), cfg["horizon"])
    demos = sample_trajectories(world.P, expert, start, cfg["demos"], rng)
    irl = MaxEntIRL(world, start, empirical_svf(demos, world.n_states), cfg["horizon"])
    irl.train(cfg["iterations"])

    r = irl.recovered()
    print(f"correlation with the true reward {np.corrcoef(r, world.true_reward())[0, 1]:.5f}")


if __name__ == "__main__":
    main(CONFIG)
