"""Robust classification under label noise by over-parametrisation: u and v model the noise of every training example."""
import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F

config = dict(num_examp=120, num_classes=4, noise_rate=0.3, batch_size=30, epochs=4,
              lr=0.1, lr_u=1.0, lr_v=10.0, std=1e-2, ratio_consistency=0.5, dtype=torch.float32, seed=99)


def noisy_blobs(cfg):
    rng = np.random.default_rng(cfg['seed'])
    centres = rng.normal(0, 2.0, (cfg['num_classes'], 6))
    clean = rng.integers(0, cfg['num_classes'], cfg['num_examp'])
    x = centres[clean] + rng.normal(0, 1.0, (cfg['num_examp'], 6))
    flip = rng.random(cfg['num_examp']) < cfg['noise_rate']
    noisy = np.where(flip, rng.integers(0, cfg['num_classes'], cfg['num_examp']), clean)
    return torch.from_numpy(x).float(), torch.from_numpy(noisy), torch.from_numpy(clean)


class overparametrization_loss(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.num_classes = cfg['num_classes']
        self.ratio_consistency = cfg['ratio_consistency']
        rng = np.random.default_rng(cfg['seed'] + 1)
        u = rng.normal(0.0, cfg['std'], (cfg['num_examp'], 1))
        v = rng.normal(0.0, cfg['std'], (cfg['num_examp'], cfg['num_classes']))
        self.u = torch.tensor(u, requires_grad=True).to(cfg['dtype'])
        self.v = torch.tensor(v, requires_grad=True).to(cfg['dtype'])

    def consistency_loss(self, output1, output2):
        preds1 = F.softmax(output1, dim=1).detach()
        return F.kl_div(F.log_softmax(output2, dim=1), preds1, reduction='batchmean')

    def forward(self, index, outputs, outputs_aug, label):
        eps = 1e-4
        U_square = self.u[index] ** 2 * label
        V_square = self.v[index] ** 2 * (1 - label)
        U_square = torch.clamp(U_square, 0, 1)
        V_square = torch.clamp(V_square, 0, 1)
        E = U_square - V_square

        prediction = F.softmax(outputs, dim=1)
        prediction = F.normalize((prediction + E.detach()).clamp(min=eps), p=1, dim=1).clamp(eps, 1.0)
        loss = -(label * prediction.log()).sum(dim=1).mean()

        hard = F.one_hot(outputs.detach().argmax(dim=1), self.num_classes).to(outputs.dtype)
        MSE_loss = F.mse_loss(hard + U_square - V_square, label, reduction='sum') / len(label)
        loss = loss + MSE_loss
        return loss + self.ratio_consistency * self.consistency_loss(outputs, outputs_aug)


def train(cfg):
    torch.manual_seed(cfg['seed'])
    x, noisy, clean = noisy_blobs(cfg)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, cfg['num_classes']))
    train_loss = overparametrization_loss(cfg)

    optimizer = optim.SGD(model.parameters(), lr=cfg['lr'], momentum=0.9)
    optimizer_loss = optim.SGD([{'params': train_loss.u, 'lr': cfg['lr_u'], 'weight_decay': 0},
                                {'params': train_loss.v, 'lr': cfg['lr_v'], 'weight_decay': 0}], lr=cfg['lr'])

    for epoch in range(cfg['epochs']):
        total = 0.0
        for index in torch.randperm(cfg['num_examp']).split(cfg['batch_size']):
            label = F.one_hot(noisy[index], cfg['num_classes']).float()
            outputs = model(x[index])
            outputs_aug = model(x[index] + 0.1 * torch.randn(len(index), 6))
            loss = train_loss(index, outputs, outputs_aug, label)

            optimizer.zero_grad()
            optimizer_loss.zero_grad()
            loss.backward()
            optimizer.step()
            optimizer_loss.step()
            total += loss.item()
        with torch.no_grad():
            accuracy = (model(x).argmax(1) == clean).float().mean().item()
            size = train_loss.u.abs().mean().item()
        print(f'epoch {epoch}: loss {total:.5f}, clean accuracy {accuracy:.4f}, mean |u| {size:.5f}')


if __name__ == '__main__':
    train(config)
