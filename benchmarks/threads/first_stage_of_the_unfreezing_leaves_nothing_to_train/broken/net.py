import torch.nn as nn


def conv_block(c_in, c_out):
    return nn.Sequential(nn.Conv1d(c_in, c_out, 3, padding=1), nn.BatchNorm1d(c_out), nn.ReLU(), nn.MaxPool1d(2))


class SmallNet(nn.Module):
    """1d stand-in for a pretrained backbone"""

    def __init__(self, n_classes):
        super().__init__()
        self.block1 = conv_block(1, 8)
        self.block2 = conv_block(8, 12)
        self.head = nn.Linear(12, n_classes)

    def forward(self, x):
        x = self.block2(self.block1(x))
        return self.head(x.mean(dim=2))

    def layer_groups(self):
        # from the input to the output
        return [self.block1, self.block2, self.head]
