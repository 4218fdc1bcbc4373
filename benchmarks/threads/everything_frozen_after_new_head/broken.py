# fine-tuning a pretrained classifier on 3 classes -- only the new head should learn
import copy, time
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

def pretrained():
    """stands in for torchvision.models.resnet18(weights=...)"""
    g = torch.random.fork_rng()
    with g:
        torch.manual_seed(1234)
        m = nn.Sequential()
        m.add_module('stem', nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(inplace=True)))
        m.add_module('layer1', nn.Sequential(nn.Conv2d(6, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(inplace=True)))
        m.add_module('pool', nn.AdaptiveAvgPool2d(1))
        m.add_module('flat', nn.Flatten())
        m.add_module('fc', nn.Linear(8, 10))
    return m

def initialize_model(num_classes, feature_extract):
    model_ft = pretrained()
    num_ftrs = model_ft.fc.in_features
    model_ft.fc = nn.Linear(num_ftrs, num_classes)
    if feature_extract:
        for param in model_ft.parameters():
            param.requires_grad = False
    return model_ft

def train_model(model, dataloaders, criterion, optimizer, num_epochs):
    best_acc, best_wts = 0.0, copy.deepcopy(model.state_dict())
    for epoch in range(num_epochs):
        for phase in ['train', 'val']:
            model.train() if phase == 'train' else model.eval()
            running_loss, running_corrects, n = 0.0, 0, 0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == 'train'):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == 'train':
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += (outputs.argmax(1) == labels).sum().item()
                n += inputs.size(0)
            print('%d %-5s loss %.5f acc %.3f' % (epoch, phase, running_loss / n, running_corrects / n))
            if phase == 'val' and running_corrects / n > best_acc:
                best_acc, best_wts = running_corrects / n, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_wts)
    return model

def toy(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    x = torch.randn(n, 1, 9, 9, generator=g) * 0.4
    for i, c in enumerate(y):
        x[i, 0, 3 * int(c):3 * int(c) + 3] += 1.0
        x[i] *= 1 + 0.5 * int(c)
    return TensorDataset(x, y)

if __name__ == '__main__':
    torch.manual_seed(0)
    loaders = {'train': DataLoader(toy(48, 1), batch_size=12, shuffle=True), 'val': DataLoader(toy(24, 2), batch_size=12)}
    model = initialize_model(3, feature_extract=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model = train_model(model, loaders, nn.CrossEntropyLoss(), optimizer, num_epochs=3)
