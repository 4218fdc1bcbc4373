import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.attention_vector = nn.Parameter(torch.empty(size).uniform_(-0.1, 0.1))

    def forward(self, states, lengths):
        logits = states @ self.attention_vector
        mask = torch.arange(states.size(1)).unsqueeze(0) < lengths.unsqueeze(1)
        weights = torch.softmax(logits.masked_fill(~mask, float("-inf")), dim=1)
        return (states * weights.unsqueeze(2)).sum(dim=1)


class TorchMojiLike(nn.Module):
    """Embedding, two recurrent layers, attention over all of them, one output layer."""

    def __init__(self, nb_classes, nb_tokens, embedding=12, hidden=10, feature_output=False):
        super().__init__()
        self.feature_output = feature_output
        self.embed = nn.Embedding(nb_tokens, embedding, padding_idx=0)
        self.lstm_0 = nn.LSTM(embedding, hidden, batch_first=True, bidirectional=True)
        self.lstm_1 = nn.LSTM(2 * hidden, hidden, batch_first=True, bidirectional=True)
        self.attention_layer = Attention(4 * hidden + embedding)
        self.output_layer = nn.Linear(4 * hidden + embedding, nb_classes)

    def forward(self, tokens, lengths):
        x = torch.tanh(self.embed(tokens))
        first, _ = self.lstm_0(x)
        second, _ = self.lstm_1(first)
        features = self.attention_layer(torch.cat([second, first, x], dim=2), lengths)
        outputs = features if self.feature_output else self.output_layer(features)
        return outputs.data
