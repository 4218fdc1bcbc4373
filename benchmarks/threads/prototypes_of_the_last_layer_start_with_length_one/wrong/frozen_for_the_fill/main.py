import argparse
import math
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

from data import TwoCrops
from nets import Backbone, DINOHead, MultiCropWrapper

warnings.filterwarnings('ignore')


def bool_flag(s):
    return s.lower() in ('true', '1', 'on')


def get_args_parser():
    parser = argparse.ArgumentParser('DINO', add_help=False)
    parser.add_argument('--out_dim', default=48, type=int)
    parser.add_argument('--norm_last_layer', default=False, type=bool_flag,
                        help='True keeps the prototypes at length one (more stable); small models do better with False')
    parser.add_argument('--momentum_teacher', default=0.96, type=float)
    parser.add_argument('--teacher_temp', default=0.04, type=float)
    parser.add_argument('--student_temp', default=0.1, type=float)
    parser.add_argument('--lr', default=5e-3, type=float)
    parser.add_argument('--epochs', default=5, type=int)
    parser.add_argument('--batch_size', default=48, type=int)
    parser.add_argument('--clip_grad', default=3.0, type=float)
    parser.add_argument('--seed', default=0, type=int)
    return parser


class DINOLoss(nn.Module):
    def __init__(self, out_dim, student_temp, teacher_temp, center_momentum=0.9):
        super().__init__()
        self.student_temp, self.teacher_temp = student_temp, teacher_temp
        self.center_momentum = center_momentum
        self.register_buffer('center', torch.zeros(1, out_dim))

    def forward(self, student_output, teacher_output):
        student_out = (student_output / self.student_temp).chunk(2)
        teacher_out = F.softmax((teacher_output - self.center) / self.teacher_temp, dim=-1).detach().chunk(2)
        total, n = 0, 0
        for iq, q in enumerate(teacher_out):
            for v in range(len(student_out)):
                if v == iq:
                    continue
                total += torch.sum(-q * F.log_softmax(student_out[v], dim=-1), dim=-1).mean()
                n += 1
        self.update_center(teacher_output)
        return total / n

    @torch.no_grad()
    def update_center(self, teacher_output):
        batch_center = teacher_output.mean(0, keepdim=True)
        self.center = self.center * self.center_momentum + batch_center * (1 - self.center_momentum)


def train_dino(args):
    torch.manual_seed(args.seed)
    student = MultiCropWrapper(Backbone(), DINOHead(32, args.out_dim, norm_last_layer=args.norm_last_layer))
    teacher = MultiCropWrapper(Backbone(), DINOHead(32, args.out_dim, norm_last_layer=args.norm_last_layer))
    teacher.load_state_dict(student.state_dict())
    for p in teacher.parameters():
        p.requires_grad = False

    dino_loss = DINOLoss(args.out_dim, args.student_temp, args.teacher_temp)
    optimizer = torch.optim.AdamW([p for p in student.parameters() if p.requires_grad], lr=args.lr, weight_decay=0.04)
    data = TwoCrops()
    for epoch in range(args.epochs):
        total, n = 0.0, 0
        for crops in data.loader(args.batch_size):
            loss = dino_loss(student(crops), teacher(crops))
            if not math.isfinite(loss.item()):
                raise SystemExit('Loss is {}, stopping training'.format(loss.item()))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(student.parameters(), args.clip_grad)
            optimizer.step()
            with torch.no_grad():
                m = args.momentum_teacher
                for param_q, param_k in zip(student.parameters(), teacher.parameters()):
                    param_k.data.mul_(m).add_((1 - m) * param_q.detach().data)
            total += loss.item()
            n += 1
        print('Epoch: [%d] loss: %.6f' % (epoch, total / n))

    g = dict(student.named_parameters())['head.last_layer.weight_g']
    print('prototype length: mean %.6f std %.6f' % (g.mean().item(), g.std().item()))
    feats = F.normalize(teacher.backbone(data.images[:, 1:9, 1:9].flatten(1)), dim=1)
    sim = feats @ feats.t() - 2 * torch.eye(len(feats))
    knn = (data.labels[sim.argmax(1)] == data.labels).float().mean()
    print('knn: %.6f' % knn.item())


if __name__ == '__main__':
    parser = argparse.ArgumentParser('DINO', parents=[get_args_parser()])
    train_dino(parser.parse_args())
