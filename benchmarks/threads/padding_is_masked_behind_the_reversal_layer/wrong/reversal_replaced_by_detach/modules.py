import torch
from torch import nn
from torch.autograd import Function


class GradientReversal(Function):
    """identity in the forward pass, -lambda * grad in the backward pass"""

    @staticmethod
    def forward(ctx, x, lambda_):
        ctx.lambda_ = lambda_
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lambda_, None


class TextEncoder(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.embedding = nn.Embedding(hp['n_symbols'], hp['symbols_embedding_dim'])
        self.conv = nn.Conv1d(hp['symbols_embedding_dim'], hp['encoder_dim'], 3, padding=1)
        self.linear = nn.Linear(hp['encoder_dim'], hp['encoder_dim'])

    def forward(self, symbols):
        x = torch.tanh(self.conv(self.embedding(symbols).transpose(1, 2))).transpose(1, 2)
        return self.linear(x)  # (B, T, encoder_dim)


class SpeakerClassifier(nn.Module):
    """tries to recognise the speaker in the text encoding; the encoder is to fool it"""

    def __init__(self, hp):
        super().__init__()
        self.lambda_ = hp['grl_lambda']
        self.model = nn.Sequential(
            nn.Linear(hp['encoder_dim'], hp['speaker_hidden_dim']),
            nn.ReLU(inplace=True),
            nn.Linear(hp['speaker_hidden_dim'], hp['n_speakers']),
        )

    def parse_outputs(self, x, lengths):
        # frames behind the end of the utterance must not tell anything
        mask = torch.arange(x.size(1))[None, :] >= lengths[:, None]
        x.masked_fill_(mask.unsqueeze(-1), 0.0)
        return x

    def forward(self, encoder_outputs, lengths):
        x = encoder_outputs.detach().clone()
        x = self.parse_outputs(x, lengths)
        pooled = self.model(x).sum(1) / lengths[:, None]
        return pooled


class ProsodyDecoder(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.rnn = nn.GRU(hp['encoder_dim'], hp['encoder_dim'], batch_first=True)
        self.out = nn.Linear(hp['encoder_dim'], hp['n_prosody'])

    def forward(self, encoder_outputs):
        y, _ = self.rnn(encoder_outputs)
        return self.out(y)
