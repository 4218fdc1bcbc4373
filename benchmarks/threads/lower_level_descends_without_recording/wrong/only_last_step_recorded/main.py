"""Data hyper-cleaning: learn one weight per (possibly mislabelled) training example."""
import torch
import torch.nn.functional as F

from data import make_data
from inner import train_linear

cfg = dict(outer_steps=12, inner_steps=15, inner_lr=0.5, outer_lr=0.3, n_train=60, n_val=60)

torch.manual_seed(11)
Xtr, ytr, flipped, Xval, yval = make_data(cfg["n_train"], cfg["n_val"])

hyper = torch.zeros(cfg["n_train"], requires_grad=True)     # logit of each weight
outer_opt = torch.optim.Adam([hyper], lr=cfg["outer_lr"])

for step in range(cfg["outer_steps"]):
    w, b = train_linear(Xtr, ytr, hyper, cfg["inner_steps"], cfg["inner_lr"])
    logits = Xval @ w + b
    val_loss = F.cross_entropy(logits, yval)

    hypergrad = torch.autograd.grad(val_loss, hyper)[0]
    hyper.grad = hypergrad
    outer_opt.step()

    if step % 3 == 0 or step == cfg["outer_steps"] - 1:
        acc = (logits.argmax(1) == yval).float().mean().item()
        weight = torch.sigmoid(hyper.detach())
        print("step %2d  val %.6f  acc %.6f  clean %.6f  flipped %.6f"
              % (step, val_loss.item(), acc, weight[~flipped].mean().item(), weight[flipped].mean().item()))
