from __future__ import print_function
import copy
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset


def make_dataloaders():
    g = torch.Generator().manual_seed(2)
    directions = torch.randn(3, 8, generator=g)
    loaders = {}
    for phase, n in (('training', 48), ('validation', 24)):
        y = torch.randint(3, (n,), generator=g)
        x = directions[y] + 0.7 * torch.randn(n, 8, generator=g)
        loaders[phase] = DataLoader(TensorDataset(x, y), batch_size=16)
    return loaders


def train_model(model, dataloaders, criterion, optimizer, scheduler, num_epochs=3):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    for epoch in range(num_epochs):
        print('Epoch {}/{}'.format(epoch, num_epochs - 1))
        # Each epoch has a training and validation phase
        for phase in dataloaders:
            if phase == 'training':
                model.train()
            else:
                model.eval()
            running_loss, running_corrects, size = 0.0, 0, 0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                # track history only if in train
                with torch.set_grad_enabled(True):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                # backward + optimize only if in training phase
                if True:
                    loss.backward()
                    optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data).item()
                size += inputs.size(0)
            if phase == 'training':
                scheduler.step()
            epoch_loss, epoch_acc = running_loss / size, running_corrects / size
            print('{} Loss: {:.6f} Acc: {:.4f}'.format(phase, epoch_loss, epoch_acc))
            if phase == 'validation' and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())
    print('Best val Acc: {:4f}'.format(best_acc))
    model.load_state_dict(best_model_wts)
    return model


torch.manual_seed(4)
model_ft = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
optimizer_ft = optim.SGD(model_ft.parameters(), lr=0.05, momentum=0.9)
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=2, gamma=0.1)
train_model(model_ft, make_dataloaders(), nn.CrossEntropyLoss(), optimizer_ft, exp_lr_scheduler)
