import torch, torch.nn as nn
from functools import reduce

class LabelSmoothSoftmaxCE(nn.Module):
    def __init__(self, lb_smooth=0.1):
        super(LabelSmoothSoftmaxCE, self).__init__()
        self.pos, self.neg = 1. - lb_smooth, lb_smooth

    def log_softmax(self, x):
        m = x.max(dim=1, keepdim=True)[0].detach()
        e = torch.exp(x - m)
        s = e.sum(dim=1, keepdim=True); e.div_(s)
        return e.clamp_min(1e-8).log()

    def forward(self, logits, label):
        logs = self.log_softmax(logits)
        n = logits.size(1)
        onehot = torch.zeros_like(logs).scatter_(1, label.unsqueeze(1), self.pos - self.neg / n) + self.neg / n
        return -(logs * onehot).sum(dim=1).mean()

def train(net, n):
    crit, opt = LabelSmoothSoftmaxCE(), torch.optim.SGD(net.parameters(), lr=.2)
    step = lambda loss: (opt.zero_grad(), loss.backward(), opt.step(), loss.item())[-1]
    return [step(crit(net(x), x[:, :4].argmax(1))) for x in (torch.randn(20, 7) for _ in range(n))]

if __name__ == '__main__':
    torch.manual_seed(1200)
    layers = reduce(lambda acc, d: acc + [nn.Linear(*d), nn.ReLU()], [(7, 12), (12, 4)], [])[:-1]
    hist = train(nn.Sequential(*layers), 6)
    print('first %.6f last %.6f' % (hist[0], hist[-1]))
