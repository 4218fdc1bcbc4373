import argparse
import torch
import torch.nn.functional as F
from capsules import PartCapsules, render_parts
from shapes import sample_images


class Trainer:
    def __init__(self, opt):
        self.opt = opt
        self.model = PartCapsules(opt.parts, opt.img)
        self.optim = torch.optim.RMSprop(self.model.parameters(), lr=opt.lr, momentum=0.9)

    def loss(self, rec, x, pres):
        nll = F.mse_loss(rec, x, reduction='none').sum(dim=(1, 2)).mean()
        sparse = pres.sum(1).mean()
        return nll + self.opt.l_sparse * sparse, nll

    def run(self):
        for it in range(self.opt.iters):
            x = sample_images(self.opt.bs, self.opt.img)
            mats, pres, _ = self.model(x)
            rec = render_parts(self.model.templates, mats, pres, self.opt.img)
            loss, nll = self.loss(rec, x, pres)
            self.optim.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.)
            self.optim.step()
            print('it %d loss %.6f nll %.6f' % (it, loss.item(), nll.item()))


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--parts', type=int, default=3)
    ap.add_argument('--img', type=int, default=12)
    ap.add_argument('--bs', type=int, default=6)
    ap.add_argument('--iters', type=int, default=6)
    ap.add_argument('--lr', type=float, default=2e-3)
    ap.add_argument('--l_sparse', type=float, default=0.1)
    opt = ap.parse_args()
    torch.manual_seed(14)
    Trainer(opt).run()
