import torch

from models import MultiTaskTagger
from trainer import Trainer

HPARAMS = {
    "seed": 17,
    "lr": 4e-3,
    "epochs": 2,
    "batches": 8,
    "batch_size": 12,
    "length": 9,
}


def make_batches(n, hp, generator):
    out = []
    for _ in range(n):
        tokens = torch.randint(0, 30, (hp["batch_size"], hp["length"]), generator=generator)
        out.append({"tokens": tokens, "tags": tokens % 5, "polarity": (tokens.float().mean(1) > 14.5).float()})
    return out


def main(hp):
    torch.manual_seed(hp["seed"])
    generator = torch.Generator().manual_seed(hp["seed"])
    model = MultiTaskTagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=hp["lr"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=hp["epochs"] * hp["batches"])
    trainer = Trainer(model, make_batches(hp["batches"], hp, generator), make_batches(2, hp, generator), optimizer, scheduler)
    trainer.fit(hp["epochs"])


if __name__ == "__main__":
    main(HPARAMS)
