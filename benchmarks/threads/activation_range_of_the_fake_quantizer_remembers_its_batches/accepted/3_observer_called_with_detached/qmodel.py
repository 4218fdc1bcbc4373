import torch.nn as nn
import torch.nn.functional as F

from quantizer import ActQuantizer


class QNet(nn.Module):

    def __init__(self, num_bits=4, dim=16, hidden=24, classes=5):
        super(QNet, self).__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, classes)
        self.q1 = ActQuantizer(num_bits)
        self.q2 = ActQuantizer(num_bits)

    def named_quantizers(self):
        return [(n, m) for n, m in self.named_modules() if isinstance(m, ActQuantizer)]

    def forward(self, x):
        x = self.q1(F.relu(self.fc1(x)))
        x = self.q2(F.relu(self.fc2(x)))
        return self.fc3(x)
