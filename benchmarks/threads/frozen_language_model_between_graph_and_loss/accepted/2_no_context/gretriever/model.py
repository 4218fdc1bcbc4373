import torch
from torch import nn


class GraphEncoder(nn.Module):
    def __init__(self, n_in, dim):
        super().__init__()
        self.l1, self.l2 = nn.Linear(n_in, dim), nn.Linear(dim, dim)

    def forward(self, x, adj):
        a = adj + torch.eye(adj.shape[-1])
        a = a / a.sum(-1, keepdim=True)
        x = torch.relu(a @ self.l1(x))
        return (a @ self.l2(x)).mean(1)


class LM(nn.Module):
    """stands in for the pretrained language model"""

    def __init__(self, vocab, dim):
        super().__init__()
        self.word_embedding = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, inputs_embeds):
        return self.lm_head(self.body(inputs_embeds)[:, -1])


class GraphPromptLM(nn.Module):
    def __init__(self, vocab, dim, n_node_feat):
        super().__init__()
        self.llm = LM(vocab, dim)
        # the language model stays as it is
        for p in self.llm.parameters():
            p.requires_grad = False
        self.gnn = GraphEncoder(n_node_feat, dim)
        self.projector = nn.Sequential(nn.Linear(dim, dim), nn.Sigmoid(), nn.Linear(dim, dim))

    def forward(self, x, adj, question):
        prompt = self.projector(self.gnn(x, adj)).unsqueeze(1)
        tokens = self.llm.word_embedding(question)
        logits = self.llm(torch.cat([prompt, tokens], 1))
        return logits
