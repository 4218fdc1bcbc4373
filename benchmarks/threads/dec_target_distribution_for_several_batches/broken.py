import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, n_in, n_z):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, n_z))
        self.decoder = nn.Sequential(nn.Linear(n_z, 24), nn.ReLU(), nn.Linear(24, n_in))

    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z), z


class IDEC(nn.Module):
    """Improved deep embedded clustering (reconstruction + KL(p || q))."""

    def __init__(self, n_in=12, n_z=4, n_clusters=3, alpha=1.0):
        super().__init__()
        self.alpha = alpha
        self.ae = AutoEncoder(n_in, n_z)
        self.cluster_layer = nn.Parameter(torch.empty(n_clusters, n_z))
        nn.init.xavier_normal_(self.cluster_layer)

    def pretrain(self, loader, epochs, lr):
        opt = torch.optim.Adam(self.ae.parameters(), lr=lr)
        for epoch in range(epochs):
            for x, _ in loader:
                x_bar, _ = self.ae(x)
                loss = F.mse_loss(x_bar, x)
                opt.zero_grad()
                loss.backward()
                opt.step()
        print(f"pretrained, mse {loss.item():.6f}")

    def init_centers(self, data):
        with torch.no_grad():
            z = self.ae.encoder(data)
            c = z[torch.randperm(len(z))[: len(self.cluster_layer)]]
            for _ in range(5):
                a = torch.cdist(z, c).argmin(1)
                c = torch.stack([z[a == k].mean(0) if (a == k).any() else c[k] for k in range(len(c))])
            self.cluster_layer.copy_(c)

    def forward(self, x):
        x_bar, z = self.ae(x)
        q = 1.0 / (1.0 + torch.sum((z.unsqueeze(1) - self.cluster_layer) ** 2, 2) / self.alpha)
        q = q.pow((self.alpha + 1.0) / 2.0)
        q = (q.t() / torch.sum(q, 1)).t()
        return x_bar, q


def target_distribution(q):
    weight = q ** 2 / q.sum(0)
    return (weight.t() / weight.sum(1)).t()


def train_idec(args):
    torch.manual_seed(args.seed)
    centers = torch.randn(3, 12) * 2
    label = torch.arange(48) % 3
    data = centers[label] + torch.randn(48, 12)
    dataset = TensorDataset(data, torch.arange(48))
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True)

    model = IDEC()
    model.pretrain(loader, 2, args.lr)
    model.init_centers(data)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    y_pred_last = None
    for epoch in range(args.epochs):
        if epoch % args.update_interval == 0:
            _, tmp_q = model(data)
            # update target distribution p
            p = target_distribution(tmp_q)
            y_pred = tmp_q.argmax(1)
            if y_pred_last is not None:
                delta_label = (y_pred != y_pred_last).float().mean().item()
                print(f"epoch {epoch} delta_label {delta_label:.4f}")
                if delta_label < args.tol:
                    print("Reached tolerance threshold. Stopping training.")
                    break
            y_pred_last = y_pred

        total = 0.0
        for x, idx in loader:
            x_bar, q = model(x)
            reconstr_loss = F.mse_loss(x_bar, x)
            kl_loss = F.kl_div(q.log(), p[idx], reduction="batchmean")
            loss = args.gamma * kl_loss + reconstr_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="train")
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--batch_size", default=16, type=int)
    parser.add_argument("--gamma", default=0.1, type=float, help="coefficient of clustering loss")
    parser.add_argument("--update_interval", default=2, type=int)
    parser.add_argument("--tol", default=-1.0, type=float)
    parser.add_argument("--epochs", default=4, type=int)
    parser.add_argument("--seed", default=1, type=int)
    train_idec(parser.parse_args())
