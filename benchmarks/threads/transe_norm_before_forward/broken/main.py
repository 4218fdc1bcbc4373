import torch

from transe import TransE

torch.manual_seed(13)
model = TransE(n_ent=10, n_rel=3, dim=6)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
triples = torch.stack([torch.arange(10), torch.arange(10) % 3, (torch.arange(10) * 3 + 1) % 10], 1)
for epoch in range(5):
    corrupt = triples.clone()
    corrupt[:, 2] = torch.randint(0, 10, (10,))
    model.normalize()
    loss = model.margin_loss(triples, corrupt)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f} {model.ent.weight.norm(dim=1).max().item():.6f}")
