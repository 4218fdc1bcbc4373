# pre-training of a tiny wav2vec-2.0-like model on synthetic speech
import torch

from criterion import Wav2vecCriterion
from data import make_utterances
from model import Wav2Vec2Config, Wav2Vec2Model


class Trainer:
    def __init__(self, cfg, lr=2e-3):
        torch.manual_seed(11)
        self.model = Wav2Vec2Model(cfg)
        self.criterion = Wav2vecCriterion(loss_weights=[0.1, 10.0])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def train_step(self, sample):
        self.model.train()
        self.optimizer.zero_grad()
        loss, logging_output = self.criterion(self.model, sample)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        return logging_output


def main():
    cfg = Wav2Vec2Config()
    trainer = Trainer(cfg)
    wav = make_utterances(24, 640)
    for epoch in range(4):
        sums = {}
        for b in range(0, 24, 8):
            out = trainer.train_step({"source": wav[b:b + 8]})
            for k, v in out.items():
                sums[k] = sums.get(k, 0.0) + v / 3
        print("epoch", epoch, " ".join("%s %.6f" % kv for kv in sums.items()))


if __name__ == "__main__":
    main()
