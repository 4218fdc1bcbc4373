import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class Solver:
    """Maximum classifier discrepancy for unsupervised domain adaptation."""

    def __init__(self, args):
        self.args = args
        self.G = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 10))
        self.C1, self.C2 = (nn.Sequential(nn.Linear(10, 12), nn.ReLU(), nn.Linear(12, 3)) for _ in range(2))
        self.opt_g, self.opt_c1, self.opt_c2 = (
            torch.optim.Adam(m.parameters(), lr=args.lr, weight_decay=5e-4) for m in (self.G, self.C1, self.C2))

    def reset_grad(self):
        for opt in (self.opt_g, self.opt_c1, self.opt_c2):
            opt.zero_grad()

    @staticmethod
    def discrepancy(out1, out2):
        return torch.mean(torch.abs(F.softmax(out1, 1) - F.softmax(out2, 1)))

    def source_loss(self, x, y):
        feat = self.G(x)
        return F.cross_entropy(self.C1(feat), y) + F.cross_entropy(self.C2(feat), y)

    def train_batch(self, img_s, label_s, img_t):
        # step A: all on source
        self.reset_grad()
        self.source_loss(img_s, label_s).backward()
        self.opt_g.step(); self.opt_c1.step(); self.opt_c2.step()
        # step B: the classifiers disagree on target
        self.reset_grad()
        loss_s = self.source_loss(img_s, label_s)
        feat_t = self.G(img_t)
        out1, out2 = self.C1(feat_t), self.C2(feat_t)
        loss_dis = self.discrepancy(out1, out2)
        (loss_s - loss_dis).backward(retain_graph=True)
        self.opt_c1.step(); self.opt_c2.step()
        # step C: the generator makes them agree again
        feat_t = self.G(img_t)
        out1, out2 = self.C1(feat_t), self.C2(feat_t)
        for i in range(self.args.num_k):
            self.reset_grad()
            loss_dis = self.discrepancy(out1, out2)
            loss_dis.backward(retain_graph=True)
            self.opt_g.step()
        return loss_s.item(), loss_dis.item()


def main():
    parser = argparse.ArgumentParser(description='PyTorch MCD Implementation')
    parser.add_argument('--lr', type=float, default=5e-3)
    parser.add_argument('--num_k', type=int, default=3, help='hyper paremeter for generator update')
    parser.add_argument('--batches', type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(1)
    solver = Solver(args)
    means = 1.5 * torch.randn(3, 5)
    for batch in range(args.batches):
        ys, yt = torch.randint(3, (15,)), torch.randint(3, (15,))
        xs = means[ys] + 0.4 * torch.randn(15, 5)
        xt = 0.8 * means[yt] + 0.5 + 0.4 * torch.randn(15, 5)
        print('batch %d loss %.6f discrepancy %.6f' % (batch, *solver.train_batch(xs, ys, xt)))


if __name__ == '__main__':
    main()
