import torch
import torch.nn as nn


def block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False),
        nn.GroupNorm(4, cout),
        nn.ReLU(inplace=True),
    )


class SmallNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.layer1 = block(1, 8)
        self.layer2 = block(8, 16)
        self.layer3 = block(16, 16)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = x.mean(dim=(2, 3))
        return self.fc(x)


def prepare_finetune(model, num_classes, n_trainable):
    """换分类头, 冻结全部参数, 再解冻最后 n_trainable 层"""
    model.fc = nn.Linear(model.fc.in_features, num_classes)
    for p in model.parameters():
        p.requires_grad = False
    for layer in list(model.children())[-n_trainable:]:
        for p in layer.parameters():
            p.requires_grad = True
    return model
