import argparse
import torch
import torch.nn.functional as F
from data import two_spirals
from distill import JacobianDistillation
from models import mlp

parser = argparse.ArgumentParser(description='small student learns outputs and sensitivities of a teacher')
parser.add_argument('--teacher-epochs', type=int, default=30)
parser.add_argument('--student-epochs', type=int, default=6)
parser.add_argument('--batch-size', type=int, default=32)
parser.add_argument('--T', type=float, default=3.0)
parser.add_argument('--w-jac', type=float, default=1.0)
args = parser.parse_args([])


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def train_teacher(teacher, x, y):
    optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for epoch in range(args.teacher_epochs):
        optimizer.zero_grad()
        loss = F.cross_entropy(teacher(x), y)
        loss.backward()
        optimizer.step()
    print('teacher: loss %.6f acc %.6f' % (loss.item(), accuracy(teacher, x, y)))


def train_student(student, teacher, x, y):
    criterion = JacobianDistillation(args.T, args.w_jac)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    teacher.eval()
    for epoch in range(args.student_epochs):
        student.train()
        order = torch.randperm(len(x))
        total = torch.zeros(3)
        n = 0
        for idx in order.split(args.batch_size):
            optimizer.zero_grad()
            ce, kd, jac = criterion(student, teacher, x[idx], y[idx])
            (ce + kd + jac).backward()
            optimizer.step()
            total += torch.tensor([ce.item(), kd.item(), jac.item()])
            n += 1
        print('student epoch %d: ce %.6f kd %.6f jac %.6f acc %.6f' % (epoch, *(total / n).tolist(), accuracy(student, x, y)))


if __name__ == '__main__':
    torch.manual_seed(8)
    x, y = two_spirals(160)
    teacher, student = mlp(2, 48, 2, depth=3), mlp(2, 10, 2, depth=1)
    train_teacher(teacher, x, y)
    train_student(student, teacher, x, y)
