import torch
import torch.nn.functional as F


class Engine:
    """Encoder and decoder are trained end to end; one update per caption."""

    def __init__(self, encoder, decoder, lr, total_steps):
        self.encoder, self.decoder = encoder, decoder
        self.params = list(encoder.parameters()) + list(decoder.parameters())
        self.optimizer = torch.optim.Adam(self.params, lr=lr)
        self.sched = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.1, total_iters=total_steps)
        self.global_step = 0

    def train_epoch(self, images, captions):
        running, count = 0.0, 0
        for image, refs in zip(images, captions):
            features = self.encoder(image)
            for tokens in refs:
                logits = self.decoder(features, tokens)
                loss = F.cross_entropy(logits, tokens)
                self.optimizer.zero_grad()
                loss.backward(retain_graph=True)
                torch.nn.utils.clip_grad_norm_(self.params, 5.0)
                self.optimizer.step()
                self.sched.step()
                self.global_step += 1
                running, count = running + loss.item(), count + 1
        return running / count
