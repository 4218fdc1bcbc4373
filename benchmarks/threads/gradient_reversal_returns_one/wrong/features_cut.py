import math
import torch
import torch.nn as nn
from torch.autograd import Function


class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lambd


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.class_classifier = nn.Sequential(nn.Linear(16, 3), nn.LogSoftmax(dim=1))
        self.domain_classifier = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 2), nn.LogSoftmax(dim=1))

    def forward(self, x, alpha):
        f = self.feature(x)
        return self.class_classifier(f), self.domain_classifier(f.detach())


torch.manual_seed(5)
my_net = DANN()
optimizer = torch.optim.Adam(my_net.parameters(), lr=3e-3)
loss_class, loss_domain = nn.NLLLoss(), nn.NLLLoss()
means = torch.randn(3, 6)
n_epoch, len_dataloader = 2, 4
for epoch in range(n_epoch):
    for i in range(len_dataloader):
        p = float(i + epoch * len_dataloader) / n_epoch / len_dataloader
        alpha = 2. / (1. + math.exp(-10 * p)) - 1
        my_net.zero_grad()
        # source
        label = torch.randint(3, (12,))
        class_out, domain_out = my_net(means[label] + 0.3 * torch.randn(12, 6), alpha)
        err_s_label = loss_class(class_out, label)
        err_s_domain = loss_domain(domain_out, torch.zeros(12).long())
        # target
        t = means[torch.randint(3, (12,))] + 0.3 * torch.randn(12, 6) + 0.8
        _, domain_out = my_net(t, alpha)
        err_t_domain = loss_domain(domain_out, torch.ones(12).long())
        err = err_t_domain + err_s_domain + err_s_label
        err.backward()
        optimizer.step()
    print('epoch: %d, err_s_label: %.6f, err_s_domain: %.6f, err_t_domain: %.6f' % (epoch, err_s_label.item(), err_s_domain.item(), err_t_domain.item()))
