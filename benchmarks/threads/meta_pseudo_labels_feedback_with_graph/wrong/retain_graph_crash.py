"""Meta Pseudo Labels: the teacher labels the unlabelled batch, the student learns from it, and how
much the student's loss on the labelled batch changed tells the teacher whether that was a good idea."""
import argparse
import logging

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)

parser = argparse.ArgumentParser()
parser.add_argument("--total-steps", default=8, type=int)
parser.add_argument("--uda-steps", default=4, type=float, help="warm-up of the uda weight")
parser.add_argument("--lambda-u", default=1.0, type=float)
parser.add_argument("--temperature", default=0.7, type=float)
parser.add_argument("--threshold", default=0.3, type=float)
parser.add_argument("--lr", default=0.05, type=float)
parser.add_argument("--amp", action="store_true", help="use 16-bit (mixed) precision")
parser.add_argument("--seed", default=5, type=int)


class SmallNet(nn.Module):
    def __init__(self, n_in=6, hidden=16, num_classes=3):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.classifier = nn.Linear(hidden, num_classes)

    def forward(self, x):
        return self.classifier(self.features(x))


class MPLTrainer:
    def __init__(self, args):
        self.args = args
        self.teacher, self.student = SmallNet(), SmallNet()
        self.t_optimizer = torch.optim.SGD(self.teacher.parameters(), lr=args.lr, momentum=0.9)
        self.s_optimizer = torch.optim.SGD(self.student.parameters(), lr=args.lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()

    def uda_loss(self, t_logits_uw, t_logits_us):
        soft = torch.softmax(t_logits_uw.detach() / self.args.temperature, dim=-1)
        mask = (soft.max(-1).values >= self.args.threshold).float()
        return torch.mean(-(soft * torch.log_softmax(t_logits_us, dim=-1)).sum(dim=-1) * mask)

    def feedback(self, s_loss_l_old, s_loss_l_new):
        """first-order stand-in of <grad on labelled, grad on pseudo-labelled> in the paper"""
        return s_loss_l_old - s_loss_l_new

    def step(self, step, x_l, targets, x_uw, x_us):
        # ---- teacher
        t_logits_l = self.teacher(x_l)
        t_logits_uw, t_logits_us = self.teacher(x_uw), self.teacher(x_us)
        t_loss_l = self.criterion(t_logits_l, targets)
        t_loss_u = self.uda_loss(t_logits_uw, t_logits_us)
        weight_u = self.args.lambda_u * min(1.0, (step + 1) / self.args.uda_steps)
        t_loss_uda = t_loss_l + weight_u * t_loss_u
        hard_pseudo_label = t_logits_us.detach().argmax(-1)

        # ---- student
        s_loss_l_old = self.criterion(self.student(x_l), targets)
        s_loss = self.criterion(self.student(x_us), hard_pseudo_label)
        s_loss.backward(retain_graph=True)
        self.s_optimizer.step()
        self.s_optimizer.zero_grad()
        s_loss_l_new = self.criterion(self.student(x_l), targets)

        # ---- feedback to the teacher
        dot_product = self.feedback(s_loss_l_old, s_loss_l_new)
        t_loss_mpl = dot_product * self.criterion(t_logits_us, hard_pseudo_label)
        t_loss = t_loss_uda + t_loss_mpl
        self.t_optimizer.zero_grad()
        t_loss.backward()
        self.t_optimizer.step()
        return t_loss.item(), s_loss.item(), float(dot_product)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = MPLTrainer(args)
    for step in range(args.total_steps):
        x_l, x_u = torch.randn(9, 6), torch.randn(18, 6)
        targets = x_l[:, :3].argmax(1)
        t, s, dot = trainer.step(step, x_l, targets, x_u + 0.05 * torch.randn_like(x_u), x_u + 0.4 * torch.randn_like(x_u))
        print(f"{step:3d} teacher {t:.6f} student {s:.6f} dot {dot:.7f}")
        logger.debug("step %d", step)


if __name__ == "__main__":
    main()
