import torch
import torch.nn as nn


def _weights_init(m):
    classname = m.__class__.__name__
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        m.bias.data.fill_(0)
    elif classname.find('Norm') != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


class Encoder(nn.Module):
    """Embedding network between original feature space to latent space.  H: embeddings"""

    def __init__(self, opt):
        super(Encoder, self).__init__()
        self.rnn = nn.GRU(input_size=opt.z_dim, hidden_size=opt.hidden_dim, num_layers=opt.num_layer, batch_first=True)
        self.fc = nn.Linear(opt.hidden_dim, opt.hidden_dim)
        self.apply(_weights_init)

    def forward(self, x):
        e, _ = self.rnn(x)
        return torch.sigmoid(self.fc(e))


class Recovery(nn.Module):
    """Recovery network from latent space to original space."""

    def __init__(self, opt):
        super(Recovery, self).__init__()
        self.rnn = nn.GRU(input_size=opt.hidden_dim, hidden_size=opt.z_dim, num_layers=opt.num_layer, batch_first=True)
        self.fc = nn.Linear(opt.z_dim, opt.z_dim)
        self.apply(_weights_init)

    def forward(self, h):
        r, _ = self.rnn(h)
        return torch.sigmoid(self.fc(r))


class Generator(nn.Module):
    """Generates time-series in latent space from random vectors."""

    def __init__(self, opt):
        super(Generator, self).__init__()
        self.rnn = nn.GRU(input_size=opt.z_dim, hidden_size=opt.hidden_dim, num_layers=opt.num_layer, batch_first=True)
        self.fc = nn.Linear(opt.hidden_dim, opt.hidden_dim)
        self.apply(_weights_init)

    def forward(self, z):
        g, _ = self.rnn(z)
        return torch.sigmoid(self.fc(g))


class Supervisor(nn.Module):
    """Generates the next step in latent space from the previous ones."""

    def __init__(self, opt):
        super(Supervisor, self).__init__()
        self.rnn = nn.GRU(input_size=opt.hidden_dim, hidden_size=opt.hidden_dim, num_layers=1, batch_first=True)
        self.fc = nn.Linear(opt.hidden_dim, opt.hidden_dim)
        self.apply(_weights_init)

    def forward(self, h):
        s, _ = self.rnn(h)
        return torch.sigmoid(self.fc(s))


class Discriminator(nn.Module):
    def __init__(self, opt):
        super(Discriminator, self).__init__()
        self.rnn = nn.GRU(input_size=opt.hidden_dim, hidden_size=opt.hidden_dim, num_layers=opt.num_layer, batch_first=True)
        self.fc = nn.Linear(opt.hidden_dim, 1)
        self.apply(_weights_init)

    def forward(self, h):
        d, _ = self.rnn(h)
        return self.fc(d)
