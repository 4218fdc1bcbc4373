import torch
import torch.nn.functional as F

from bridge import Bridge

torch.manual_seed(1141)
bridge = Bridge.boot(vocab=9, d_model=8, n_heads=2)
gpt = bridge.original_model
optimizer = torch.optim.AdamW([gpt.attn.qkv.weight, gpt.embed.weight, gpt.head.weight], lr=5e-3)
for step in range(6):
    tokens = torch.randint(0, 9, (6, 7))
    logits = bridge(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, :-1].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.6f}")
for name, p in list(bridge.get_params().items())[:2]:
    print(name, f"{p.norm().item():.6f}")
