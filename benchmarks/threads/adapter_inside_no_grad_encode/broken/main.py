import torch

from adapter_net import FewShotNet
from data import episodes


def train(net, steps):
    optimizer = torch.optim.AdamW((p for p in net.parameters() if p.requires_grad), lr=1e-2, weight_decay=0.01)
    for x, y in episodes(steps):
        loss = net.loss(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss


if __name__ == "__main__":
    torch.manual_seed(24)
    net = FewShotNet(dim=12, n_way=3)
    final = train(net, 6)
    print(f"final {final.item():.6f}, adapter {net.adapter.up.weight.abs().mean().item():.6f}")
