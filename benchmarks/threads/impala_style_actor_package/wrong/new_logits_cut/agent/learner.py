import torch
from torch.nn import functional as F


class Learner:
    def __init__(self, net, gamma=0.9, lr=5e-3):
        self.net, self.gamma = net, gamma
        self.optimizer = torch.optim.RMSprop(net.parameters(), lr=lr, eps=0.01)

    def targets(self, unroll, rho):
        v, acc, out = unroll["value"], unroll["value"][-1], []
        for t in reversed(range(len(v))):
            acc = v[t] + rho[t] * (unroll["reward"][t] + self.gamma * acc - v[t])
            out.insert(0, acc)
        return torch.stack(out)

    def learn(self, unroll):
        state, logits, values = unroll["state0"], [], []
        for obs in unroll["obs"]:
            l, v, state = self.net(obs, state)
            logits.append(l)
            values.append(v)
        logits, values = torch.stack(logits).detach(), torch.stack(values)
        logp = -F.cross_entropy(logits.flatten(0, 1), unroll["action"].flatten(), reduction="none").view_as(values)
        logm = -F.cross_entropy(unroll["mu"].flatten(0, 1), unroll["action"].flatten(), reduction="none").view_as(values)
        rho = (logp.detach() - logm).exp().clamp(max=1.0)
        vs = self.targets(unroll, rho)
        pg_loss = -(logp * (vs - values).detach()).mean()
        loss = pg_loss + 0.5 * F.mse_loss(values, vs)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
