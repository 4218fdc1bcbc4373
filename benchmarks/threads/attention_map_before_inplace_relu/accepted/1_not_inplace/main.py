import torch
import torch.nn.functional as F

from distill import AttentionTransfer
from nets import ConvNet, images

if __name__ == '__main__':
    torch.manual_seed(30)
    teacher, student = ConvNet(width=12), ConvNet(width=6)
    # a few steps make a teacher
    opt_t = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for _ in range(3):
        x, y = images(16)
        opt_t.zero_grad()
        F.cross_entropy(teacher(x, maps=False)[0], y).backward()
        opt_t.step()
    teacher.eval()
    kd = AttentionTransfer(teacher, student, beta=50.0)
    opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    for it in range(8):
        x, y = images(16)
        loss, ce, at = kd(x, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2:
            print(f'{it} loss {loss.item():.5f} ce {ce.item():.5f} at {at.item():.6f}')
