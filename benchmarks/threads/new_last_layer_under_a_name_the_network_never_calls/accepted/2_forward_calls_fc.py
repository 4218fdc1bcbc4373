# Fine-tune a "pretrained" leaf-disease network on 3 new classes, everything frozen but the last layer
import argparse, copy
import torch, torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

ap = argparse.ArgumentParser()
ap.add_argument('-b', '--batch-size', type=int, default=12)
ap.add_argument('--lr', type=float, default=0.05)
ap.add_argument('--epochs', type=int, default=3)
ap.add_argument('--num-classes', type=int, default=3)
args = ap.parse_args()
torch.manual_seed(10)


class MiniMobileNet(nn.Module):
    """stands in for the torchvision model (same names)"""

    def __init__(self, num_classes=10):
        super().__init__()

        def dw(i, o, s):
            return nn.Sequential(
                nn.Conv2d(i, i, 3, s, 1, groups=i, bias=False), nn.BatchNorm2d(i), nn.ReLU6(),
                nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU6())

        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU6(), dw(8, 12, 1), dw(12, 16, 2))
        self.classifier = nn.Sequential(nn.Dropout(0.1), nn.Linear(16, num_classes))

    def forward(self, x):
        x = self.features(x)
        x = x.mean([2, 3])
        x = self.classifier[0](x)
        return self.fc(x)


def pretrained():
    g = torch.Generator().manual_seed(77)
    net = MiniMobileNet()
    for p in net.parameters():
        if p.dim() > 1:
            p.data = torch.randn(p.shape, generator=g) * (2.0 / p[0].numel()) ** 0.5
    return net


def leaves(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % args.num_classes
    x = 0.3 * torch.randn(n, 3, 12, 12, generator=g)
    x += torch.eye(3)[y][:, :, None, None]          # every disease has its colour
    return TensorDataset(x, y)


def train_model(model, loaders, criterion, optimizer, num_epochs):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    for epoch in range(num_epochs):
        for phase in ['train', 'val']:
            model.train() if phase == 'train' else model.eval()
            running_loss, running_corrects, n = 0.0, 0, 0
            for inputs, labels in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == 'train'):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == 'train':
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data).item()
                n += inputs.size(0)
            epoch_acc = running_corrects / n
            print('%s Loss: %.5f Acc: %.4f' % (phase, running_loss / n, epoch_acc))
            if phase == 'val' and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())
    print('Best val Acc: %.4f' % best_acc)
    model.load_state_dict(best_model_wts)
    return model


model_ft = pretrained()
for param in model_ft.parameters():
    param.requires_grad = False

# Parameters of newly constructed modules have requires_grad=True by default
num_ftrs = model_ft.classifier[1].in_features
model_ft.fc = nn.Linear(num_ftrs, args.num_classes)

loaders = {
    'train': DataLoader(leaves(36, 0), batch_size=args.batch_size),
    'val': DataLoader(leaves(18, 1), batch_size=args.batch_size),
}
criterion = nn.CrossEntropyLoss()
# Observe that only parameters of final layer are being optimized
optimizer_ft = torch.optim.SGD(model_ft.fc.parameters(), lr=args.lr, momentum=0.9)
train_model(model_ft, loaders, criterion, optimizer_ft, args.epochs)
