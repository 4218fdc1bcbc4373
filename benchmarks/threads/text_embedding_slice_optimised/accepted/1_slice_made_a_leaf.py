import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_img=6, d_txt=8):
        super().__init__()
        self.q, self.k = nn.Linear(d_img, d_txt), nn.Linear(d_txt, d_txt)

    def forward(self, pixels, text):
        return (self.q(pixels) @ self.k(text).transpose(-1, -2) / text.shape[-1] ** 0.5).softmax(-1)


class CoSegmenter:
    """Optimises text embeddings so that their attention maps follow a mask."""

    def __init__(self, unet, text_embedding, num_parts, lr=0.05):
        self.unet = unet
        self.text_embedding = text_embedding.detach()
        self.embeddings_to_optimize = text_embedding[:, 1:num_parts + 1].detach().clone().requires_grad_(True)
        self.optimizer = torch.optim.Adam([self.embeddings_to_optimize], lr=lr)

    def full(self):
        n = self.embeddings_to_optimize.shape[1]
        return torch.cat([self.text_embedding[:, :1], self.embeddings_to_optimize, self.text_embedding[:, n + 1:]], 1)

    def training_step(self, pixels, mask):
        maps = self.unet(pixels, self.full())[..., 1:1 + self.embeddings_to_optimize.shape[1]]
        loss = F.cross_entropy(torch.log(maps + 1e-6).flatten(0, 1), mask.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(10)
    unet = CrossAttention()
    for p in unet.parameters():
        p.requires_grad_(False)
    token_embedding = nn.Embedding(20, 8)
    prompt = torch.tensor([[0, 4, 9, 13, 1, 1]])
    segmenter = CoSegmenter(unet, token_embedding(prompt), num_parts=3)
    for step in range(6):
        pixels = torch.randn(1, 16, 6)
        loss = segmenter.training_step(pixels, pixels[..., :3].argmax(-1))
        print(f"step {step} loss {loss:.6f}")
    print(f"norm {segmenter.embeddings_to_optimize.norm().item():.6f}")


main()
