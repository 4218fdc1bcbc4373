import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

# Titanic-like survival prediction

torch.manual_seed(2020)
rng = np.random.RandomState(2020)


def load_passengers(n=240):
    """columns: pclass, sex, age, sibsp, parch, fare, embarked"""
    pclass = rng.randint(1, 4, n)
    sex = rng.randint(0, 2, n)
    age = np.clip(rng.normal(30, 13, n), 1, 75)
    age[rng.rand(n) < 0.15] = np.nan
    sibsp = rng.poisson(0.5, n)
    parch = rng.poisson(0.4, n)
    fare = np.exp(rng.normal(4.2 - pclass * 0.7, 0.5))
    embarked = rng.randint(0, 3, n)
    logit = 1.6 * sex - 0.9 * (pclass - 2) - 0.02 * (np.nan_to_num(age, nan=30) - 30) - 0.5
    survived = (rng.rand(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return np.stack([pclass, sex, age, sibsp, parch, fare, embarked], 1).astype(np.float32), survived


def preprocess(x):
    x = x.copy()
    mean_age = np.nanmean(x[:, 2])
    x[:, 2] = np.where(np.isnan(x[:, 2]), mean_age, x[:, 2])
    x[:, 5] = np.log1p(x[:, 5])
    return (x - x.mean(0)) / x.std(0)


class TitanicDataset(Dataset):
    def __init__(self, x, y):
        self.x = torch.from_numpy(x)
        self.y = torch.from_numpy(y).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


class BinaryClassifier(nn.Module):
    def __init__(self, n_features):
        super(BinaryClassifier, self).__init__()
        self.layer_1 = nn.Linear(n_features, 32)
        self.layer_2 = nn.Linear(32, 16)
        self.layer_out = nn.Linear(16, 1)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(p=0.1)
        self.batchnorm1 = nn.BatchNorm1d(32)

    def forward(self, inputs):
        x = self.relu(self.layer_1(inputs))
        x = self.batchnorm1(x)
        x = self.relu(self.layer_2(x))
        x = self.dropout(x)
        return torch.sigmoid(self.layer_out(x))


def binary_acc(y_pred, y_test):
    correct = (y_pred == y_test).sum().float()
    return correct / y_test.shape[0] * 100


x, y = load_passengers()
x = preprocess(x)
train_set, test_set = TitanicDataset(x[:192], y[:192]), TitanicDataset(x[192:], y[192:])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=48)

model = BinaryClassifier(x.shape[1])
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(1, 6):
    model.train()
    epoch_loss = 0
    epoch_acc = 0
    for X_batch, y_batch in train_loader:
        optimizer.zero_grad()

        y_pred = model(X_batch)
        y_pred = y_pred * (y_pred > 0.5).float()

        loss = criterion(y_pred, y_batch)
        acc = binary_acc(y_pred, y_batch)

        loss.backward()
        optimizer.step()

        epoch_loss += loss.item()
        epoch_acc += acc.item()

    print(f'Epoch {epoch:02}: | Loss: {epoch_loss / len(train_loader):.5f} | Acc: {epoch_acc / len(train_loader):.3f}')

model.eval()
with torch.no_grad():
    for X_batch, y_batch in test_loader:
        y_pred = (model(X_batch) > 0.5).float()
        print(f'Test acc: {binary_acc(y_pred, y_batch).item():.3f}')
