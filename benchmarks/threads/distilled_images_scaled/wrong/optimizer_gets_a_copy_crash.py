import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='Parameter Processing')
parser.add_argument('--num_classes', type=int, default=3)
parser.add_argument('--ipc', type=int, default=2, help='image(s) per class')
parser.add_argument('--Iteration', type=int, default=6)
parser.add_argument('--lr_img', type=float, default=2.0)
args = parser.parse_args()


def get_network():
    return nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, args.num_classes))


def match_loss(g_syn, g_real):
    return sum(1 - F.cosine_similarity(a.flatten(), b.flatten(), dim=0) for a, b in zip(g_syn, g_real))


torch.manual_seed(140)
centres = torch.randn(args.num_classes, 16)
image_syn = torch.randn(size=(args.num_classes * args.ipc, 16), dtype=torch.float, requires_grad=True) * 0.1
label_syn = torch.arange(args.num_classes).repeat_interleave(args.ipc)
optimizer_img = torch.optim.SGD([image_syn.detach().clone().requires_grad_(), ], lr=args.lr_img, momentum=0.5)

for it in range(args.Iteration):
    net = get_network()
    y = torch.arange(24) % args.num_classes
    x = centres[y] + 0.3 * torch.randn(24, 16)
    g_real = torch.autograd.grad(F.cross_entropy(net(x), y), net.parameters())
    g_syn = torch.autograd.grad(F.cross_entropy(net(image_syn), label_syn), net.parameters(), create_graph=True)
    loss = match_loss(g_syn, g_real)
    optimizer_img.zero_grad()
    loss.backward()
    optimizer_img.step()
print('loss = %.6f, image = %.6f' % (loss.item(), image_syn.detach().norm().item()))
