import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function
from torch.utils.data import DataLoader, TensorDataset

SEED = 123
torch.manual_seed(SEED)

batch_size = 32
n_epoch = 5
lr = 3e-3


class ReverseLayerF(Function):

    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class FeatureExtractor(nn.Module):
    def __init__(self):
        super(FeatureExtractor, self).__init__()
        self.fc1 = nn.Linear(2, 32)
        self.fc2 = nn.Linear(32, 16)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = self.drop(x)
        return F.relu(self.fc2(x))


class LabelPredictor(nn.Module):
    def __init__(self):
        super(LabelPredictor, self).__init__()
        self.fc = nn.Linear(16, 2)

    def forward(self, f):
        return self.fc(f)


class DomainClassifier(nn.Module):
    def __init__(self):
        super(DomainClassifier, self).__init__()
        self.fc1 = nn.Linear(16, 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, f, alpha):
        f = ReverseLayerF.apply(f, alpha)
        return self.fc2(F.relu(self.fc1(f))).squeeze(1)


def two_moons(n, angle, noise=0.1):
    half = n // 2
    t = torch.rand(n) * np.pi
    outer = torch.stack([torch.cos(t[:half]), torch.sin(t[:half])], 1)
    inner = torch.stack([1 - torch.cos(t[half:]), 0.5 - torch.sin(t[half:])], 1)
    x = torch.cat([outer, inner]) + noise * torch.randn(n, 2)
    x = x - torch.tensor([0.5, 0.25])
    c, s = np.cos(angle), np.sin(angle)
    rot = torch.tensor([[c, -s], [s, c]], dtype=torch.float32)
    y = torch.cat([torch.zeros(half), torch.ones(n - half)]).long()
    return x @ rot.t(), y


source = two_moons(256, 0.0)
target = two_moons(256, np.pi / 6)
dataloader_source = DataLoader(TensorDataset(*source), batch_size=batch_size, shuffle=True)
dataloader_target = DataLoader(TensorDataset(*target), batch_size=batch_size, shuffle=True)

feature_extractor = FeatureExtractor()
label_predictor = LabelPredictor()
domain_classifier = DomainClassifier()

params = (list(feature_extractor.parameters()) + list(label_predictor.parameters())
          + list(domain_classifier.parameters()))
optimizer = torch.optim.Adam(params, lr=lr)
loss_class = nn.CrossEntropyLoss()
loss_domain = nn.BCEWithLogitsLoss()


def test(x, y):
    feature_extractor.eval()
    with torch.no_grad():
        acc = (label_predictor(feature_extractor(x)).argmax(1) == y).float().mean().item()
    feature_extractor.train()
    return acc


for epoch in range(n_epoch):
    len_dataloader = min(len(dataloader_source), len(dataloader_target))
    sum_label, sum_domain = 0., 0.

    for i, ((s_img, s_label), (t_img, _)) in enumerate(zip(dataloader_source, dataloader_target)):

        p = float(i + epoch * len_dataloader) / n_epoch / len_dataloader
        alpha = 2. / (1. + np.exp(-10 * p)) - 1

        optimizer.zero_grad()

        # label loss on the source
        s_feature = feature_extractor(s_img)
        err_s_label = loss_class(label_predictor(s_feature), s_label)
        err_s_label.backward()

        # domain loss on source and target
        t_feature = feature_extractor(t_img)
        err_s_domain = loss_domain(domain_classifier(s_feature, alpha), torch.zeros(len(s_img)))
        err_t_domain = loss_domain(domain_classifier(t_feature, alpha), torch.ones(len(t_img)))
        err_domain = err_s_domain + err_t_domain
        err_domain.backward()

        optimizer.step()
        sum_label += err_s_label.item()
        sum_domain += err_domain.item()

    print('epoch: %d, err_label: %.4f, err_domain: %.4f, source acc: %.4f, target acc: %.4f'
          % (epoch, sum_label / len_dataloader, sum_domain / len_dataloader,
             test(*source), test(*target)))
