import torch
import torch.nn.functional as F
from networks import estimate_age


def add_age(x, age):
    return torch.cat([x, age.unsqueeze(1)], dim=1)


class Coach:
    def __init__(self, net, opts):
        self.net, self.opts = net, opts
        self.optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

    def train_step(self, x):
        o = self.opts
        self.optimizer.zero_grad()
        input_ages = estimate_age(x)
        target_ages = torch.rand(x.shape[0]) - 0.5

        # forward pass
        y_hat, latent = self.net(add_age(x, target_ages))
        loss, logs = self.calc_loss(x, y_hat, latent, target_ages, 'real')
        loss.backward()

        # cycle pass
        y_recovered, latent_cycle = self.net(add_age(y_hat, input_ages))
        loss, cycle_logs = self.calc_loss(x, y_recovered, latent_cycle, input_ages, 'cycle')
        loss.backward()
        self.optimizer.step()
        logs.update(cycle_logs)
        return logs

    def calc_loss(self, x, y, latent, ages, kind):
        o = self.opts
        weight = o.cycle_lambda if kind == 'cycle' else o.id_lambda
        rec = F.mse_loss(y, x)
        aging = F.mse_loss(estimate_age(y), ages)
        reg = latent.pow(2).mean()
        loss = weight * rec + o.aging_lambda * aging + o.latent_lambda * reg
        return loss, {'rec_' + kind: rec.item(), 'age_' + kind: aging.item()}
