import torch


class Trainer:
    def __init__(self, net, pde, collocation, conditions, weights):
        self.net, self.pde = net, pde
        self.collocation = collocation.requires_grad_(True)
        self.conditions = conditions
        self.weights = weights
        self.variables = []

    def compile(self, lr, external_trainable_variables=()):
        self.variables = list(external_trainable_variables)
        self.optimizer = torch.optim.Adam(
            [{"params": self.net.parameters()}, {"params": self.variables, "lr": 5 * lr}], lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=8, gamma=0.5)

    def losses(self):
        residual = self.pde(self.collocation, self.net(self.collocation))
        terms = [residual.pow(2).mean()]
        terms += [c.error(self.net).pow(2).mean() for c in self.conditions]
        return [w * term for w, term in zip(self.weights, terms)]

    def train_step(self):
        self.optimizer.zero_grad()
        terms = self.losses()
        total = sum(terms)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 10.0)
        self.optimizer.step()
        self.scheduler.step()
        return total.item(), [t.item() for t in terms]

    def train(self, iterations, display_every=1):
        history = []
        for it in range(iterations):
            total, terms = self.train_step()
            history.append(total)
            if it % display_every == 0:
                print(it, f"{total:.6f}", " ".join(f"{t:.5f}" for t in terms),
                      "vars", " ".join(f"{v.item():.5f}" for v in self.variables))
        return history
