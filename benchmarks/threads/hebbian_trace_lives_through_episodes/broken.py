# Differentiable plasticity: pattern completion. The plastic part of the weights (hebb) is lifelong: an agent keeps
# what it has learned in earlier episodes, alpha / w / eta are trained by backprop within each episode.
import numpy as np
import torch
import torch.nn as nn

PATTERNSIZE = 12
NBNEUR = PATTERNSIZE + 1          # one bias neuron
defaultParams = {
    'nbpatterns': 2,
    'prestime': 2,
    'interpresdelay': 1,
    'probadegrade': 0.5,
    'nbiter': 6,
    'learningrate': 3e-3,
    'rngseed': 5,
    'rule': 'oja',
}


def generateInputsAndTarget(params, rng):
    seedp = np.ones(PATTERNSIZE)
    seedp[:PATTERNSIZE // 2] = -1
    patterns = [rng.permutation(seedp) for _ in range(params['nbpatterns'])]
    inputs = []
    for numpattern in rng.permutation(params['nbpatterns']):
        inputs += [patterns[numpattern]] * params['prestime']
        inputs += [np.zeros(PATTERNSIZE)] * params['interpresdelay']
    target = patterns[rng.randint(params['nbpatterns'])]
    degraded = target * (rng.uniform(size=PATTERNSIZE) > params['probadegrade'])
    inputs += [degraded] * params['prestime']
    T = np.zeros((len(inputs), 1, NBNEUR), dtype=np.float32)
    for n, p in enumerate(inputs):
        T[n, 0, :PATTERNSIZE] = p
        T[n, 0, -1] = 1.0
    return torch.from_numpy(T * 20.0), torch.from_numpy(target.astype(np.float32))


class NETWORK(nn.Module):
    def __init__(self, rule):
        super(NETWORK, self).__init__()
        self.rule = rule
        self.w = nn.Parameter(.01 * torch.randn(NBNEUR, NBNEUR))
        self.alpha = nn.Parameter(.1 * torch.randn(NBNEUR, NBNEUR))
        self.eta = nn.Parameter(.05 * torch.ones(1))

    def forward(self, input, yin, hebb):
        yout = torch.tanh(yin.mm(self.w + torch.mul(self.alpha, hebb)) + input)
        if self.rule == 'hebb':
            hebb = (1 - self.eta) * hebb + self.eta * torch.bmm(yin.unsqueeze(2), yout.unsqueeze(1))[0]
        else:
            hebb = hebb + self.eta * torch.mul((yin[0].unsqueeze(1) - torch.mul(hebb, yout[0].unsqueeze(0))), yout[0].unsqueeze(0))
        return yout, hebb

    def initialZeroState(self):
        return torch.zeros(1, NBNEUR)

    def initialZeroHebb(self):
        return torch.zeros(NBNEUR, NBNEUR)


class Lifetime:
    '''one agent, many episodes'''

    def __init__(self, net, params):
        self.net, self.params = net, params
        self.hebb = net.initialZeroHebb()
        self.optimizer = torch.optim.Adam(net.parameters(), lr=params['learningrate'])

    def present(self, inputs):
        y = self.net.initialZeroState()      # activity is reset between episodes, weights are not
        for t in range(len(inputs)):
            y, self.hebb = self.net(inputs[t], y, self.hebb)
        return y

    def episode(self, inputs, target):
        self.optimizer.zero_grad()
        y = self.present(inputs)
        loss = (y[0][:PATTERNSIZE] - target).pow(2).sum()
        loss.backward()
        self.optimizer.step()
        to = np.sign(y.data.numpy()[0][:PATTERNSIZE])
        return loss.item(), float(np.mean(to != target.numpy()))

    def statistics(self):
        return self.hebb.abs().mean().item(), self.hebb.abs().max().item()


def train(params):
    torch.manual_seed(params['rngseed'])
    rng = np.random.RandomState(params['rngseed'])
    life = Lifetime(NETWORK(params['rule']), params)
    all_losses = []
    for numiter in range(params['nbiter']):
        inputs, target = generateInputsAndTarget(params, rng)
        loss, wrong = life.episode(inputs, target)
        all_losses.append(loss)
        print(numiter, "loss: %.6f  bits wrong: %.3f  |hebb| %.6f (max %.6f)" % (loss, wrong, *life.statistics()))
    print("mean %.6f" % np.mean(all_losses))


if __name__ == "__main__":
    train(defaultParams)
