"""Textual inversion: one new token is learned, all others stay as they are."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TextEncoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab, dim)
        self.position = nn.Parameter(0.02 * torch.randn(6, dim))
        self.layer = nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, batch_first=True)

    def get_input_embeddings(self):
        return self.token_embedding

    def resize_token_embeddings(self, size):
        old = self.token_embedding.weight.data
        self.token_embedding = nn.Embedding(size, old.shape[1])
        self.token_embedding.weight.data[: len(old)] = old

    def forward(self, ids):
        return self.layer(self.token_embedding(ids) + self.position)


class UNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.mid, self.out = nn.Linear(5, dim), nn.Linear(dim, dim), nn.Linear(dim, 4)

    def forward(self, noisy, t, text):
        q = self.q(torch.cat([noisy, t[:, None]], 1))
        att = (q[:, None] @ text.transpose(1, 2)).softmax(-1) @ text
        return self.out(F.silu(self.mid(q + att[:, 0])))


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)


def main(max_train_steps=6, lr=0.05):
    torch.manual_seed(10)
    text_encoder, unet = TextEncoder(9, 8), UNet(8)
    text_encoder.resize_token_embeddings(10)
    placeholder_token_id, initializer_token_id = 9, 4
    token_embeds = text_encoder.get_input_embeddings().weight.data
    token_embeds[placeholder_token_id] = token_embeds[initializer_token_id]
    freeze(unet)
    freeze(text_encoder)
    text_encoder.get_input_embeddings().weight.requires_grad_(True)

    optimizer = torch.optim.AdamW(text_encoder.get_input_embeddings().parameters(), lr=lr, weight_decay=1e-2)
    # keep original embeddings as reference
    orig_embeds_params = text_encoder.get_input_embeddings().weight.data.clone()
    subject = torch.randn(4)
    for step in range(max_train_steps):
        ids = torch.randint(0, 9, (6, 6))
        ids[:, 2] = placeholder_token_id
        latents = subject + 0.1 * torch.randn(6, 4)
        noise, t = torch.randn_like(latents), torch.rand(6)
        noisy = (1 - t[:, None]).sqrt() * latents + t[:, None].sqrt() * noise
        loss = F.mse_loss(unet(noisy, t, text_encoder(ids)), noise)
        loss.backward()
        text_encoder.get_input_embeddings().weight.grad[torch.arange(10) != placeholder_token_id] = 0
        optimizer.step()
        optimizer.zero_grad()

        # Let's make sure we don't update any embedding weights besides the newly added token
        index_no_updates = torch.arange(10) != placeholder_token_id
        print("step %d loss %.6f" % (step, loss.item()))
    w = text_encoder.get_input_embeddings().weight
    print("token %.6f others %.6f" % (w[9].norm().item(), (w[:9] - orig_embeds_params[:9]).abs().max().item()))


if __name__ == "__main__":
    main()
