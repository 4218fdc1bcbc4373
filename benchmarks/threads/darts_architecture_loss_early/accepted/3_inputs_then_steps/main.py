import torch

from search import Search

torch.manual_seed(5600)
s = Search()
for i in range(6):
    x, v = torch.randn(16, 5), torch.randn(16, 5)
    losses = s.iteration((x, x[:, 0].sin()), (v, v[:, 0].sin()))
print(" ".join(f"{l:.6f}" for l in losses), " ".join(f"{a:.6f}" for a in s.net.alphas.flatten().tolist()))
