from types import SimpleNamespace
import torch
from data import ReverseTask
from model import Encoder, LuongDecoder
from trainer import Trainer

cfg = SimpleNamespace(
    vocab_size=9,
    emb_size=12,
    hidden_size=24,
    batch_size=16,
    n_epochs=4,
    lr=4e-3,
    clip=5.0,
    seed=12,
)


def run():
    torch.manual_seed(cfg.seed)
    train_set = ReverseTask(96, cfg.vocab_size, seed=1)
    valid_set = ReverseTask(32, cfg.vocab_size, seed=2)
    encoder = Encoder(cfg.vocab_size, cfg.emb_size, cfg.hidden_size)
    decoder = LuongDecoder(cfg.vocab_size, cfg.emb_size, cfg.hidden_size)
    trainer = Trainer(encoder, decoder, cfg)
    for epoch in range(cfg.n_epochs):
        train_loss = trainer.train_epoch(train_set)
        valid_loss = trainer.evaluate(valid_set)
        print(f"epoch {epoch + 1}: train {train_loss:.6f} valid {valid_loss:.6f}")


if __name__ == "__main__":
    run()
