"""
1. train a classifier on noisy points, 2. train an unconditional diffusion model,
3. fine-tune the diffusion model on its own samples, guided towards the rare class (self-training)
"""
import torch
import torch.nn.functional as F

from diffusion import Diffusion, EpsNet
from guidance import NoisyClassifier, make_cond_fn

SCALE = 3.0
RARE = 2


def toy(n):
    centers = torch.tensor([[1.5, 0.0], [-1.5, 0.0], [0.0, 2.0]])
    y = torch.multinomial(torch.tensor([0.45, 0.45, 0.1]), n, replacement=True)
    return centers[y] + 0.15 * torch.randn(n, 2), y


def train_classifier(diff, clf, x, y, steps=25):
    opt = torch.optim.Adam(clf.parameters(), lr=1e-2)
    for _ in range(steps):
        t = torch.randint(0, diff.T, (len(x),))
        loss = F.cross_entropy(clf(diff.q_sample(x, t, torch.randn_like(x)), t), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def pretrain(diff, model, opt, x, steps=25):
    for _ in range(steps):
        loss = diff.loss(model, x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def self_train(diff, model, opt, cond_fn, x, rounds=5, n=48):
    for r in range(rounds):
        y = torch.full((n,), RARE)
        samples = diff.p_sample_loop(model, n, cond_fn, y)
        real = x[torch.randint(0, len(x), (n,))]
        loss = diff.loss(model, torch.cat([real, samples]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("round %d loss %.5f guided mean (%.5f, %.5f)" % (r, loss.item(), *samples.mean(0).tolist()))


if __name__ == "__main__":
    torch.manual_seed(31)
    x, y = toy(128)
    diff = Diffusion()
    clf = NoisyClassifier(diff.T, 3)
    print("classifier %.5f" % train_classifier(diff, clf, x, y))
    clf.eval()
    model = EpsNet(diff.T)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    print("diffusion %.5f" % pretrain(diff, model, opt, x))
    self_train(diff, model, opt, make_cond_fn(clf, SCALE), x)
    free = diff.p_sample_loop(model, 64)
    print("unguided mean (%.5f, %.5f)" % tuple(free.mean(0).tolist()))
