import torch
import torch.nn as nn
from data import SOS


class Trainer:
    def __init__(self, encoder, decoder, cfg):
        self.encoder, self.decoder, self.cfg = encoder, decoder, cfg
        self.criterion = nn.CrossEntropyLoss()
        self.params = list(encoder.parameters()) + list(decoder.parameters())
        self.optimizer = torch.optim.Adam(self.params, lr=cfg.lr)

    def sentence_loss(self, src, trg):
        encoder_outputs, encoder_hidden = self.encoder(src)
        self.decoder.init_state(encoder_hidden)
        word = torch.full((src.size(0),), SOS, dtype=torch.long)
        attn_vector = torch.zeros(src.size(0), self.cfg.hidden_size)
        loss = 0
        for t in range(trg.size(1)):
            logits, attn_vector = self.decoder(word, attn_vector, encoder_outputs)
            loss = loss + self.criterion(logits, trg[:, t])
            word = trg[:, t]  # teacher forcing
        return loss / trg.size(1)

    def train_epoch(self, dataset):
        self.encoder.train()
        self.decoder.train()
        losses = []
        for src, trg in dataset.batches(self.cfg.batch_size):
            self.optimizer.zero_grad()
            loss = self.sentence_loss(src, trg)
            loss.backward()
            nn.utils.clip_grad_norm_(self.params, self.cfg.clip)
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self, dataset):
        self.encoder.eval()
        self.decoder.eval()
        losses = [self.sentence_loss(src, trg).item() for src, trg in dataset.batches(self.cfg.batch_size)]
        return sum(losses) / len(losses)
