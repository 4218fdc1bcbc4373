import argparse
import numpy as np
import torch
from agent import SoftAgent
from pbt import Population


def build(args):
    torch.manual_seed(args.seed)
    agents = [SoftAgent(obs_dim=3, act_dim=1, init_alpha=a) for a in (0.05, 0.2, 0.6)]
    return Population(agents, lrs=[1e-3, 3e-3, 6e-3], batch=args.batch, seed=args.seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("population based training of soft actor-critic agents")
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--updates", type=int, default=4, help="per agent and generation")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=21)
    args = parser.parse_args()

    pop = build(args)
    for gen in range(args.generations):
        scores = pop.train(args.updates)
        print("generation", gen, " ".join("%.5f" % s for s in scores))
        if gen + 1 < args.generations:
            worst, best = pop.exploit_and_explore(scores)
            print("  agent %d takes over agent %d" % (worst, best))
    print("temperatures", " ".join("%.6f" % float(w.agent.alpha) for w in pop.workers))
    print("weights %.5f" % float(np.mean([p.detach().norm() for w in pop.workers for p in w.agent.actor.parameters()])))
