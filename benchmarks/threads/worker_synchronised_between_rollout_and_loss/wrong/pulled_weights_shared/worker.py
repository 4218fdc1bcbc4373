import torch

from model import ActorCritic


class CartToy:
    """a cheap pole that must be kept near the middle"""

    def __init__(self, gen):
        self.gen = gen
        self.reset()

    def reset(self):
        self.s = torch.randn(4, generator=self.gen) * 0.3
        return self.s.clone()

    def step(self, a):
        push = 0.2 if a == 1 else -0.2
        x, dx, th, dth = self.s.tolist()
        dth = dth + 0.1 * th - 0.5 * push
        self.s = torch.tensor([x + 0.1 * dx, dx + push, th + 0.1 * dth, dth])
        done = bool(self.s.abs().max() > 2.0)
        return self.s.clone(), 1.0 - abs(th), done


class Worker:
    def __init__(self, gnet, opt, name, args):
        self.gnet, self.opt, self.name, self.args = gnet, opt, name, args
        self.lnet = ActorCritic(4, 2)
        self.lnet.load_state_dict(gnet.state_dict())
        self.env = CartToy(torch.Generator().manual_seed(int(name[1:])))
        self.state = self.env.reset()

    def pull(self):
        self.lnet = self.gnet

    def push(self, loss):
        self.lnet.zero_grad()
        self.opt.zero_grad()
        loss.backward()
        for lp, gp in zip(self.lnet.parameters(), self.gnet.parameters()):
            gp.grad = lp.grad
        self.opt.step()

    def rollout(self):
        log_probs, values, rewards, entropies = [], [], [], []
        for _ in range(self.args.update_global_iter):
            a, logp, ent, v = self.lnet.choose(self.state)
            self.state, r, done = self.env.step(a)
            log_probs.append(logp)
            values.append(v)
            rewards.append(r)
            entropies.append(ent)
            if done:
                self.state = self.env.reset()
                break
        with torch.no_grad():
            last = 0.0 if done else self.lnet(self.state)[1].item()
        return log_probs, values, rewards, entropies, last

    def loss(self, log_probs, values, rewards, entropies, last):
        R, targets = last, []
        for r in rewards[::-1]:
            R = r + self.args.gamma * R
            targets.insert(0, R)
        targets = torch.tensor(targets)
        values, log_probs = torch.stack(values), torch.stack(log_probs)
        td = targets - values
        c_loss = td.pow(2)
        a_loss = -log_probs * td.detach()
        return (c_loss + a_loss - self.args.entropy_coef * torch.stack(entropies)).mean()

    def work(self):
        buffer = self.rollout()
        # the other workers have stepped meanwhile: take their weights, then give ours
        self.pull()
        loss = self.loss(*buffer)
        self.push(loss)
        return loss.item(), sum(buffer[2])
