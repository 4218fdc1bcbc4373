"""Debiasing VQA with a generative bias model (GenB): target model, bias generator, discriminator."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

V_DIM, Q_DIM, N_ANS = 8, 6, 5


class FCNet(nn.Module):
    def __init__(self, dims):
        super().__init__()
        layers = []
        for i, o in zip(dims[:-2], dims[1:-1]):
            layers += [nn.Linear(i, o), nn.ReLU()]
        layers.append(nn.Linear(dims[-2], dims[-1]))
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        return self.main(x)


class BaseModel(nn.Module):
    def __init__(self, hid=16):
        super().__init__()
        self.q_net = FCNet([Q_DIM, hid, hid])
        self.v_net = FCNet([V_DIM, hid, hid])
        self.classifier = FCNet([hid, hid, N_ANS])

    def forward(self, v, q):
        return self.classifier(self.q_net(q) * self.v_net(v))


class GenB(nn.Module):
    """sees only the question, the image is noise"""

    def __init__(self, hid=16):
        super().__init__()
        self.q_net = FCNet([Q_DIM, hid, hid])
        self.generate = FCNet([V_DIM, hid, hid])
        self.classifier = FCNet([hid, hid, N_ANS])

    def forward(self, v, q, gen=True):
        z = torch.randn_like(v) if gen else torch.zeros_like(v)
        return self.classifier(self.q_net(q) * self.generate(z))


class Discriminator(nn.Module):
    def __init__(self, hid=16):
        super().__init__()
        self.net = FCNet([N_ANS, hid, 1])

    def forward(self, logits):
        return torch.sigmoid(self.net(logits))


def kld(a, b):
    return F.kl_div(F.log_softmax(a, -1), F.softmax(b, -1), reduction="batchmean")


def calc_genb_loss(pred, pred_g, a):
    bias = torch.sigmoid(pred_g.detach())
    y = 2 * a * torch.sigmoid(-2 * a * bias)
    return F.binary_cross_entropy_with_logits(pred, y) * a.size(1)


def batches(n, bs):
    for _ in range(n):
        v, q = torch.randn(bs, V_DIM), torch.randn(bs, Q_DIM)
        yield v, q, F.one_hot((v[:, :N_ANS] + q[:, :N_ANS]).argmax(1), N_ANS).float()


def train(model, genb, discriminator, args):
    bce = nn.BCELoss()
    optim = torch.optim.Adamax(model.parameters(), lr=args.lr)
    optim_G = torch.optim.Adamax(genb.parameters(), lr=args.lr)
    optim_D = torch.optim.Adamax(discriminator.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total_loss, t = 0.0, time.time()
        for v, q, a in batches(4, args.batch_size):
            valid = torch.ones(v.size(0), 1)
            fake = torch.zeros(v.size(0), 1)
            optim.zero_grad()
            pred = model(v, q)

            # train genb
            optim_G.zero_grad()
            pred_g = genb(v, q, gen=True)
            g_loss = F.binary_cross_entropy_with_logits(pred_g, a) * a.size(1)
            vae_preds = discriminator(pred_g)
            main_preds = discriminator(pred.detach())
            g_distill = kld(pred_g, pred.detach())
            g_loss = g_loss + bce(vae_preds, valid) + g_distill * 5
            g_loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(genb.parameters(), 0.25)
            optim_G.step()
            # done training genb

            # train the discriminator
            optim_D.zero_grad()
            dsc_loss = bce(vae_preds, fake) + bce(main_preds, valid)
            dsc_loss.backward(inputs=list(discriminator.parameters()))
            optim_D.step()

            # use genb to train the robust model
            genb.train(False)
            pred_g = genb(v, q, gen=False)
            genb_loss = calc_genb_loss(pred, pred_g, a)
            genb_loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            optim.step()
            genb.train(True)
            total_loss += genb_loss.item()
        print("epoch %d, train_loss: %.6f, genb: %.6f, dsc: %.6f" % (epoch, total_loss, g_loss.item(), dsc_loss.item()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--seed", type=int, default=1111)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train(BaseModel(), GenB(), Discriminator(), args)
