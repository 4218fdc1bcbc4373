import torch
import torch.nn.functional as F

from rev import ReversibleNet

def tokens(n, length=5, vocab=7):
    x = torch.randint(0, vocab, (n, length))
    return x, (x.sum(1) % 3)

if __name__ == '__main__':
    torch.manual_seed(7)
    net = ReversibleNet(vocab=7, dim=16, depth=3, n_classes=3)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for it in range(8):
        x, y = tokens(24)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2:
            print('%d %.6f |f0| %.6f' % (it, loss.item(), net.blocks[0].f[0].weight.norm().item()))
