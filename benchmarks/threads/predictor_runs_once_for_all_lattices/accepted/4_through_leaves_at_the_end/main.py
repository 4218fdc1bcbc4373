import torch

from trainer import TransducerTrainer
from data import utterances


def main():
    torch.manual_seed(11)
    trainer = TransducerTrainer(n_mels=5, vocab=7, hidden=12, lr=0.05)
    for step, (feats, labels) in enumerate(utterances(batches=7, batch=3)):
        loss = trainer.train_step(feats, labels)
        print(f"step {step}: rnnt loss {loss:.6f}")


if __name__ == "__main__":
    main()
