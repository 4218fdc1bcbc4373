import torch
from torch import nn
from torch.nn import init


class SlotAttention(nn.Module):
    """Slots compete for the inputs: softmax over slots, weighted mean over inputs."""

    def __init__(self, num_slots, dim, iters=3, eps=1e-2, hidden_dim=24):
        super().__init__()
        self.num_slots, self.iters, self.eps = num_slots, iters, eps
        self.scale = dim ** -0.5
        self.slots_mu = nn.Parameter(torch.randn(1, 1, dim))
        self.slots_logsigma = nn.Parameter(torch.zeros(1, 1, dim))
        init.xavier_uniform_(self.slots_logsigma)

        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.gru = nn.GRUCell(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden_dim), nn.ReLU(inplace=True), nn.Linear(hidden_dim, dim))
        self.norm_input = nn.LayerNorm(dim)
        self.norm_slots = nn.LayerNorm(dim)
        self.norm_pre_ff = nn.LayerNorm(dim)

    def sample(self, b, n):
        mu = self.slots_mu.expand(b, n, -1)
        sigma = self.slots_logsigma.exp().expand(b, n, -1)
        return mu + sigma * torch.randn(mu.shape)

    def weights(self, q, k):
        dots = torch.einsum('bid,bjd->bij', q, k)
        dots *= self.scale
        attn = dots.softmax(dim=1)
        attn += self.eps
        return attn.detach()

    def forward(self, inputs, num_slots=None):
        b, n, d = inputs.shape
        slots = self.sample(b, num_slots or self.num_slots)
        inputs = self.norm_input(inputs)
        k, v = self.to_k(inputs), self.to_v(inputs)
        for _ in range(self.iters):
            slots_prev = slots
            attn = self.weights(self.to_q(self.norm_slots(slots)), k)
            masks = attn
            attn = attn / attn.sum(dim=-1, keepdim=True)
            updates = torch.einsum('bjd,bij->bid', v, attn)
            slots = self.gru(updates.reshape(-1, d), slots_prev.reshape(-1, d))
            slots = slots.reshape(b, -1, d)
            slots = slots + self.mlp(self.norm_pre_ff(slots))
        return slots, masks
