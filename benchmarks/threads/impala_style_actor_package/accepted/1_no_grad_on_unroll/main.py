import torch

from agent import Actor, Learner, make_net

if __name__ == "__main__":
    torch.manual_seed(883)
    net = make_net()
    actor, learner = Actor(net, length=5), Learner(net)
    for k in range(3):
        unroll = actor.unroll()
        stats = [learner.learn(unroll) for _ in range(2)]
    print(" ".join(f"{s:.6f}" for s in stats))
