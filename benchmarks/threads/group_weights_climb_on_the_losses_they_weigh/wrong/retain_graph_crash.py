# Distributionally robust training over groups (waterbirds-like toy: label x background)
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class LossComputer:
    """Keeps the group weights q and turns losses per sample into the robust loss."""

    def __init__(self, criterion, is_robust, n_groups, group_counts, step_size=0.01, adj=None, normalize_loss=False, gamma=0.1):
        self.criterion = criterion
        self.is_robust = is_robust
        self.n_groups = n_groups
        self.group_counts = group_counts.float()
        self.step_size = step_size
        self.gamma = gamma
        self.adj = torch.zeros(n_groups) if adj is None else adj
        self.normalize_loss = normalize_loss

        # quantities maintained throughout training
        self.adv_probs = torch.ones(n_groups) / n_groups
        self.exp_avg_loss = torch.zeros(n_groups)
        self.reset_stats()

    def loss(self, yhat, y, group_idx=None):
        per_sample_losses = self.criterion(yhat, y)
        group_loss, group_count = self.compute_group_avg(per_sample_losses, group_idx)
        group_acc, _ = self.compute_group_avg((yhat.argmax(1) == y).float(), group_idx)
        self.update_exp_avg_loss(group_loss.detach(), group_count)
        if self.is_robust:
            actual_loss, weights = self.compute_robust_loss(group_loss)
        else:
            actual_loss, weights = per_sample_losses.mean(), None
        self.update_stats(actual_loss.item(), group_loss.detach(), group_acc, group_count)
        return actual_loss

    def compute_robust_loss(self, group_loss):
        adjusted_loss = group_loss
        if torch.any(self.adj > 0):
            adjusted_loss = adjusted_loss + self.adj / torch.sqrt(self.group_counts)
        if self.normalize_loss:
            adjusted_loss = adjusted_loss / adjusted_loss.sum()
        # exponentiated gradient ascent on q
        self.adv_probs = self.adv_probs * torch.exp(self.step_size * adjusted_loss)
        self.adv_probs = self.adv_probs / self.adv_probs.sum()

        robust_loss = group_loss @ self.adv_probs
        return robust_loss, self.adv_probs

    def compute_group_avg(self, losses, group_idx):
        group_map = (group_idx == torch.arange(self.n_groups).unsqueeze(1)).float()
        group_count = group_map.sum(1)
        group_denom = group_count + (group_count == 0).float()  # avoid nans
        return (group_map @ losses.view(-1)) / group_denom, group_count

    def update_exp_avg_loss(self, group_loss, group_count):
        prev_weights = (1 - self.gamma * (group_count > 0).float()) * (self.exp_avg_loss > 0).float()
        curr_weights = 1 - prev_weights
        self.exp_avg_loss = self.exp_avg_loss * prev_weights + group_loss * curr_weights

    def reset_stats(self):
        self.processed = torch.zeros(self.n_groups)
        self.avg_group_loss = torch.zeros(self.n_groups)
        self.avg_group_acc = torch.zeros(self.n_groups)
        self.avg_actual_loss, self.batch_count = 0.0, 0

    def update_stats(self, actual_loss, group_loss, group_acc, group_count):
        denom = self.processed + group_count
        denom += (denom == 0).float()
        prev, curr = self.processed / denom, group_count / denom
        self.avg_group_loss = prev * self.avg_group_loss + curr * group_loss
        self.avg_group_acc = prev * self.avg_group_acc + curr * group_acc
        self.processed += group_count
        self.avg_actual_loss = (self.batch_count * self.avg_actual_loss + actual_loss) / (self.batch_count + 1)
        self.batch_count += 1


def toy_birds(n, majority=0.9):
    y = torch.randint(0, 2, (n,))
    place = torch.where(torch.rand(n) < majority, y, 1 - y)
    core, spurious = y.float() * 2 - 1, place.float() * 2 - 1
    x = torch.stack([core + 1.2 * torch.randn(n), spurious + 0.4 * torch.randn(n)], dim=1)
    x = torch.cat([x, torch.randn(n, 6)], dim=1)
    return x, y, 2 * y + place


def run_epoch(epoch, model, optimizer, loader, loss_computer, is_training):
    model.train(is_training)
    with torch.set_grad_enabled(is_training):
        for x, y, g in loader:
            outputs = model(x)
            loss_main = loss_computer.loss(outputs, y, g)
            if is_training:
                optimizer.zero_grad()
                loss_main.backward(retain_graph=True)
                optimizer.step()
    print(f"epoch {epoch} avg {loss_computer.avg_actual_loss:.6f}",
          "group acc", " ".join(f"{a:.4f}" for a in loss_computer.avg_group_acc.tolist()),
          "q", " ".join(f"{q:.6f}" for q in loss_computer.adv_probs.tolist()))
    loss_computer.reset_stats()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_epochs", type=int, default=3)
    parser.add_argument("--robust_step_size", type=float, default=0.5)
    parser.add_argument("--generalization_adjustment", type=float, default=1.0)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y, g = toy_birds(256)
    loader = [(x[i:i + 64], y[i:i + 64], g[i:i + 64]) for i in range(0, 256, 64)]
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    train_loss_computer = LossComputer(
        nn.CrossEntropyLoss(reduction="none"), is_robust=True, n_groups=4, group_counts=torch.bincount(g, minlength=4),
        step_size=args.robust_step_size, adj=torch.full((4,), args.generalization_adjustment))
    for epoch in range(args.n_epochs):
        run_epoch(epoch, model, optimizer, loader, train_loss_computer, is_training=True)


if __name__ == "__main__":
    main()
