import torch
import torch.nn.functional as F

from data import GlintDataset
from unet import SEUNet


def psnr(a, b):
    return -10 * torch.log10(F.mse_loss(a, b))


def train(epochs=3, batch_size=6, lr=0.02):
    torch.manual_seed(11)
    dataset = GlintDataset(24)
    loader = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)
    net = SEUNet(base=8)
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for mixed, clean in loader:
            pred = net(mixed)
            loss = F.l1_loss(pred, clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch %d  l1 %.6f" % (epoch, total / len(loader)))
    net.eval()
    with torch.no_grad():
        mixed, clean = next(iter(torch.utils.data.DataLoader(GlintDataset(12, seed=99), batch_size=12)))
        print("psnr %.5f" % psnr(net(mixed), clean).item())


if __name__ == "__main__":
    train()
