import torch
import torch.nn.functional as F

from utae import CropNet

SETTINGS = {"seed": 31, "bands": 4, "d": 8, "classes": 3, "dates": 6, "plots": 30, "batch": 10, "epochs": 3, "ndvi": 0.5, "lr": 0.02}


def season(s):
    y = torch.randint(0, s["classes"], (s["plots"],))
    days = torch.sort(torch.randint(0, 300, (s["plots"], s["dates"])).float(), dim=1).values
    peak = 60 + 80 * y.float().unsqueeze(1)
    green = torch.exp(-((days - peak) / 50) ** 2)
    series = green.unsqueeze(-1) * torch.rand(s["bands"]) + 0.1 * torch.randn(s["plots"], s["dates"], s["bands"])
    return series, days, y, green.max(1).values


def run(s):
    torch.manual_seed(s["seed"])
    series, days, y, ndvi = season(s)
    net = CropNet(s["bands"], s["d"], s["classes"])
    opt = torch.optim.Adam(net.parameters(), lr=s["lr"])
    for epoch in range(s["epochs"]):
        for i in range(0, s["plots"], s["batch"]):
            j = slice(i, i + s["batch"])
            logits, green = net(series[j], days[j])
            ce = F.cross_entropy(logits, y[j])
            mse = F.mse_loss(green, ndvi[j])
            loss = ce + s["ndvi"] * mse
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} ce {ce.item():.6f} ndvi {mse.item():.6f}")


if __name__ == "__main__":
    run(SETTINGS)
