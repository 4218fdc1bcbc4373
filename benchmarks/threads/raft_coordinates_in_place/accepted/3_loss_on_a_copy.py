from __future__ import division, print_function
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

MAX_FLOW = 400


def coords_grid(batch, ht, wd):
    coords = torch.meshgrid(torch.arange(ht), torch.arange(wd), indexing='ij')
    coords = torch.stack(coords[::-1], dim=0).float()
    return coords[None].repeat(batch, 1, 1, 1)


def bilinear_sampler(img, coords):
    H, W = img.shape[-2:]
    xgrid, ygrid = coords.split([1, 1], dim=-1)
    grid = torch.cat([2 * xgrid / (W - 1) - 1, 2 * ygrid / (H - 1) - 1], dim=-1)
    return F.grid_sample(img, grid, align_corners=True)


class UpdateBlock(nn.Module):
    def __init__(self, fdim, hdim):
        super().__init__()
        self.enc = nn.Conv2d(fdim + 2, hdim, 3, padding=1)
        self.convz = nn.Conv2d(2 * hdim, hdim, 3, padding=1)
        self.convq = nn.Conv2d(2 * hdim, hdim, 3, padding=1)
        self.head = nn.Conv2d(hdim, 2, 3, padding=1)

    def forward(self, net, corr, flow):
        x = F.relu(self.enc(torch.cat([corr, flow], 1)))
        hx = torch.cat([net, x], 1)
        z = torch.sigmoid(self.convz(hx))
        net = (1 - z) * net + z * torch.tanh(self.convq(hx))
        return net, self.head(net)


class RAFT(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.fnet = nn.Sequential(nn.Conv2d(1, args.fdim, 3, padding=1), nn.ReLU(), nn.Conv2d(args.fdim, args.fdim, 3, padding=1))
        self.cnet = nn.Conv2d(1, args.hdim, 3, padding=1)
        self.update_block = UpdateBlock(args.fdim, args.hdim)

    def forward(self, image1, image2, target, valid, gamma=0.8):
        """ estimate optical flow, return the sequence loss and the last estimate """
        fmap1, fmap2 = self.fnet(image1), self.fnet(image2)
        net = torch.tanh(self.cnet(image1))
        coords0 = coords_grid(*image1[:, 0].shape)
        coords1 = coords0.clone()
        goal = coords0 + target
        loss = 0.0
        for itr in range(self.args.iters):
            coords1 = coords1.detach()
            corr = fmap1 * bilinear_sampler(fmap2, coords1.permute(0, 2, 3, 1))
            net, delta_flow = self.update_block(net, corr, coords1 - coords0)

            # F(t+1) = F(t) + \\Delta(t)
            coords1 += delta_flow

            weight = gamma ** (self.args.iters - itr - 1)
            loss += weight * (valid * F.smooth_l1_loss(coords1.clone(), goal, reduction='none')).mean()
        return loss, coords1 - coords0


def fetch_batch(rng, n=3, s=12):
    img = torch.from_numpy(rng.rand(n, 1, s, s).astype(np.float32))
    img = F.avg_pool2d(img, 3, 1, 1) * 3
    flow = torch.from_numpy(rng.uniform(-1, 1, (n, 2, 1, 1)).astype(np.float32)).expand(n, 2, s, s)
    img2 = bilinear_sampler(img, (coords_grid(n, s, s) - flow).permute(0, 2, 3, 1))
    mag = flow.pow(2).sum(1, keepdim=True).sqrt()
    return img, img2, flow, (mag < MAX_FLOW).float()


def train(args):
    torch.manual_seed(1234)
    rng = np.random.RandomState(1234)
    model = RAFT(args)
    optimizer = optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.wdecay)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, args.lr, args.num_steps + 1, pct_start=0.3)
    for step in range(args.num_steps):
        image1, image2, flow, valid = fetch_batch(rng)
        optimizer.zero_grad()
        loss, pred = model(image1, image2, flow, valid)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        scheduler.step()
        epe = (pred - flow).pow(2).sum(1).sqrt().mean()
        print('%d %.6f epe %.6f' % (step, loss.item(), epe.item()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--lr', type=float, default=0.004)
    parser.add_argument('--num_steps', type=int, default=5)
    parser.add_argument('--iters', type=int, default=4)
    parser.add_argument('--fdim', type=int, default=6)
    parser.add_argument('--hdim', type=int, default=8)
    parser.add_argument('--wdecay', type=float, default=1e-4)
    parser.add_argument('--clip', type=float, default=1.0)
    train(parser.parse_args())
