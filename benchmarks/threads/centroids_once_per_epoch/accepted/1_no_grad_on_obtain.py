import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Target(Dataset):
    def __init__(self, n=36):
        g = torch.Generator().manual_seed(41)
        self.x = torch.randn(n, 7, generator=g)
        self.x[:, 0] += (torch.arange(n) % 3).float() * 2

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], i


@torch.no_grad()
def obtain_label(loader, netF, netB, netC):
    feas, outs = [], []
    for inputs, _ in loader:
        f = netB(netF(inputs))
        feas.append(f)
        outs.append(netC(f))
    fea = F.normalize(torch.cat(feas), dim=1)
    aff = F.softmax(torch.cat(outs), dim=1)
    initc = aff.t() @ fea / (1e-8 + aff.sum(0)[:, None])
    initc = F.normalize(initc, dim=1)
    return (fea @ initc.t()).argmax(1), initc


def entropy(p):
    return -(p * (p + 1e-5).log()).sum(1)


def train_target(max_epoch=3):
    torch.manual_seed(2020)
    netF, netB, netC = nn.Sequential(nn.Linear(7, 16), nn.ReLU()), nn.Linear(16, 8), nn.Linear(8, 3)
    for p in netC.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD([{"params": netF.parameters(), "lr": 0.02}, {"params": netB.parameters(), "lr": 0.05}], momentum=0.9)
    data = Target()
    order, train = DataLoader(data, batch_size=18), DataLoader(data, batch_size=12)
    for epoch in range(max_epoch):
        mem_label, initc = obtain_label(order, netF, netB, netC)
        for inputs, idx in train:
            fea = netB(netF(inputs))
            out = netC(fea)
            classifier_loss = 0.3 * F.cross_entropy(out, mem_label[idx])
            compact = (F.normalize(fea, dim=1) - initc[mem_label[idx]]).pow(2).sum(1).mean()
            probs = F.softmax(out, dim=1)
            im_loss = entropy(probs).mean() - entropy(probs.mean(0, keepdim=True)).mean()
            loss = classifier_loss + 0.5 * compact + im_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("Epoch:{} {:.6f}".format(epoch, loss.item()))


if __name__ == "__main__":
    train_target()
