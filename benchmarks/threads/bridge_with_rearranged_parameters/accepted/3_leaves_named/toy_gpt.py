from torch import nn


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(d, 3 * d, bias=False)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return a.transpose(1, 2).reshape(b, n, d)


class ToyGPT(nn.Module):
    def __init__(self, vocab, d, heads):
        super().__init__()
        self.embed, self.attn, self.head = nn.Embedding(vocab, d), Attention(d, heads), nn.Linear(d, vocab, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        return self.head(x + self.attn(x))
