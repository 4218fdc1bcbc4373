import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
np.random.seed(0)
device = 'cpu'


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_h = nn.Linear(d_model, d_model)

    def split_heads(self, x):
        return x.view(x.size(0), -1, self.num_heads, self.d_k).transpose(1, 2)

    def forward(self, x):
        q, k, v = map(self.split_heads, (self.W_q(x), self.W_k(x), self.W_v(x)))
        A = F.softmax(q @ k.transpose(2, 3) / np.sqrt(self.d_k), dim=-1)
        H = (A @ v).transpose(1, 2).contiguous().view(x.size(0), -1, self.num_heads * self.d_k)
        return self.W_h(H)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, hidden):
        super().__init__()
        self.mha = MultiHeadAttention(d_model, num_heads)
        self.ff = nn.Sequential(nn.Linear(d_model, hidden), nn.ReLU(), nn.Linear(hidden, d_model))
        self.norm1 = nn.LayerNorm(d_model, eps=1e-6)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, x):
        x = self.norm1(x + self.mha(x))
        return self.norm2(x + self.ff(x))


def create_sinusoidal_embeddings(nb_p, dim, E):
    theta = np.array([
        [p / np.power(10000, 2 * (j // 2) / dim) for j in range(dim)]
        for p in range(nb_p)
    ])
    E[:, 0::2] = torch.FloatTensor(np.sin(theta[:, 0::2]))
    E[:, 1::2] = torch.FloatTensor(np.cos(theta[:, 1::2]))
    E.requires_grad = False


class Embeddings(nn.Module):
    def __init__(self, d_model, vocab_size, max_position_embeddings):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, d_model, padding_idx=1)
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        create_sinusoidal_embeddings(
            nb_p=max_position_embeddings,
            dim=d_model,
            E=self.position_embeddings.weight
        )
        self.LayerNorm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, input_ids):
        position_ids = torch.arange(input_ids.size(1), device=input_ids.device).unsqueeze(0).expand_as(input_ids)
        return self.LayerNorm(self.word_embeddings(input_ids) + self.position_embeddings(position_ids))


class TransformerClassifier(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, hidden, vocab, num_answers):
        super().__init__()
        self.embedding = Embeddings(d_model, vocab, 12)
        self.layers = nn.ModuleList([EncoderLayer(d_model, num_heads, hidden) for _ in range(num_layers)])
        self.dense = nn.Linear(d_model, num_answers)

    def forward(self, x):
        x = self.embedding(x)
        for layer in self.layers:
            x = layer(x)
        return self.dense(torch.max(x, dim=1)[0])


model = TransformerClassifier(num_layers=1, d_model=8, num_heads=2, hidden=16, vocab=30, num_answers=2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def evaluate(data):
    model.eval()
    with torch.no_grad():
        return np.mean([(model(x).argmax(1) == y).float().mean().item() for x, y in data])


def train(data, epochs):
    for epoch in range(epochs):
        train_loss, losses = 0, 0
        model.train()
        for x, y in data:
            out = model(x)
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
        print(f"Training loss at epoch {epoch} is {train_loss / len(data):.6f}, acc {evaluate(data):.4f}")


ids = torch.randint(2, 30, (3, 6, 9))
train([(x, (x[:, 0] > x[:, -1]).long()) for x in ids], epochs=2)
