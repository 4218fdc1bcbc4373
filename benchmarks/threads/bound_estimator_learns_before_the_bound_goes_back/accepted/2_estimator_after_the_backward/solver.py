import itertools

import torch
import torch.nn.functional as F

from mi_estimators import CLUBMean
from nets import ContentEncoder, Decoder, SpeakerEncoder


class Solver:
    def __init__(self, mels, content_dim=6, speaker_dim=4, mi_weight=0.1, lr=4e-3, mi_lr=1e-2, mi_iters=2):
        self.content = ContentEncoder(mels, content_dim)
        self.speaker = SpeakerEncoder(mels, speaker_dim)
        self.decoder = Decoder(content_dim, speaker_dim, mels)
        self.club = CLUBMean(content_dim, speaker_dim)
        self.mi_weight, self.mi_iters = mi_weight, mi_iters
        nets = itertools.chain(self.content.parameters(), self.speaker.parameters(), self.decoder.parameters())
        self.optimizer = torch.optim.Adam(nets, lr=lr)
        self.optimizer_mi = torch.optim.Adam(self.club.parameters(), lr=mi_lr)

    def fit_estimator(self, z, s):
        for _ in range(self.mi_iters):
            lld_loss = self.club.learning_loss(z.detach(), s.detach())
            self.optimizer_mi.zero_grad()
            lld_loss.backward()
            self.optimizer_mi.step()
        return lld_loss.item()

    def train_step(self, mel):
        z = self.content(mel)
        s = self.speaker(mel)
        recon_loss = F.l1_loss(self.decoder(z, s), mel)
        mi_loss = self.club(z.mean(dim=1), s)
        loss = recon_loss + self.mi_weight * mi_loss

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

        lld = self.fit_estimator(z.mean(dim=1), s)
        return {"recon": recon_loss.item(), "mi": mi_loss.item(), "lld": lld}
