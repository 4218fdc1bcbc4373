import torch
import torch.nn.functional as F

from vpt import PromptedViT, toy_batch


def train(steps=8, lr=3e-2):
    torch.manual_seed(24)
    model = PromptedViT(dim=16, n_patches=6, n_prompts=3, n_classes=4, depth=2)
    model.freeze_backbone()
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=lr)
    for step in range(steps):
        x, y = toy_batch(16)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2:
            print(f"step {step} loss {loss.item():.5f} |prompt| {model.prompt.norm().item():.5f}")


if __name__ == "__main__":
    train()
