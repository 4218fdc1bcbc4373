import torch
import torch.nn.functional as F


def requires_grad(m, b):
    for p in m.parameters():
        p.requires_grad = b


def trainable_params(m):
    return [p for p in m.parameters() if p.requires_grad]


class Learner:
    def __init__(self, model, lr):
        self.model, self.lr = model, lr
        self.layer_groups = model.layer_groups()
        self.opt = torch.optim.SGD([p for n, p in model.named_parameters() if not n.endswith('module.weight_hh')], lr=lr)

    def create_opt(self):
        self.opt = torch.optim.SGD(trainable_params(self.model), lr=self.lr)

    def freeze_to(self, n):
        for g in self.layer_groups[:n]:
            requires_grad(g, False)
        for g in self.layer_groups[n:]:
            requires_grad(g, True)
        self.create_opt()

    def unfreeze(self):
        self.freeze_to(0)

    def fit(self, name, batches):
        for x, y in batches:
            loss = F.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            print('%s: %.6f' % (name, loss.item()))
