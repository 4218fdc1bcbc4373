import torch

from trainer import MultiTaskNet, Trainer

CONFIG = {
    "seed": 99,
    "n": 160,
    "batch_size": 32,
    "epochs": 6,
    "lr": 0.05,
    "loss_weights": {"age": 1.0, "gender": 0.5, "aux": 0.3},
}


def fake_faces(n, generator):
    """16 'landmark' features with an age and a gender direction"""
    x = torch.randn(n, 16, generator=generator)
    age = torch.tanh(x[:, 0] + 0.5 * x[:, 1] * x[:, 2])
    gender = (x[:, 3] + x[:, 4] * x[:, 0] > 0).long()
    group = ((age + 1) * 2).long().clamp(0, 3)
    return x, {"age": age, "gender": gender, "aux": group}


def batches(x, targets, size):
    for i in range(0, len(x), size):
        yield x[i:i + size], {k: v[i:i + size] for k, v in targets.items()}


def main(cfg):
    torch.manual_seed(cfg["seed"])
    g = torch.Generator().manual_seed(cfg["seed"])
    x, targets = fake_faces(cfg["n"], g)
    x_val, t_val = fake_faces(64, g)
    trainer = Trainer(MultiTaskNet(), cfg["loss_weights"], cfg["lr"])
    for epoch in range(cfg["epochs"]):
        trainer.train_epoch(batches(x, targets, cfg["batch_size"]), epoch)
    trainer.evaluate(x_val, t_val)


if __name__ == "__main__":
    main(CONFIG)
