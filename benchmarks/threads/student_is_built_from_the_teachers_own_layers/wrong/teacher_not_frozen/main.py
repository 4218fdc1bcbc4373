import json

import torch
import torch.nn.functional as F

from data import Phrases
from distill import Distiller
from model import TextClassifier, build_student

CONFIG = json.loads("""{"vocab": 20, "classes": 3, "teacher_epochs": 3, "distill_epochs": 3, "batch": 16, "keep": [0, 2], "seed": 6}""")


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        x, y = data.all()
        return (model(x)[0].argmax(-1) == y).float().mean().item()


def train_teacher(model, data, epochs, batch):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for x, y in data.batches(batch):
            loss = F.cross_entropy(model(x)[0], y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"teacher: loss {loss.item():.5f}  accuracy {accuracy(model, data):.4f}")


def main(cfg):
    torch.manual_seed(cfg["seed"])
    train, test = Phrases(64, cfg["vocab"], seed=0), Phrases(64, cfg["vocab"], seed=1)
    teacher = TextClassifier(cfg["vocab"], cfg["classes"])
    train_teacher(teacher, train, cfg["teacher_epochs"], cfg["batch"])

    student = build_student(teacher, cfg["keep"])
    distiller = Distiller(teacher, student, cfg["keep"])
    for epoch in range(cfg["distill_epochs"]):
        loss = distiller.epoch(train, cfg["batch"])
        print(f"epoch {epoch}: distillation loss {loss:.5f}  student {accuracy(student, test):.4f}  teacher {accuracy(teacher, test):.4f}")
    print(f"teacher norm {sum(p.norm().item() for p in teacher.parameters()):.4f}  student norm {sum(p.norm().item() for p in student.parameters()):.4f}")


if __name__ == "__main__":
    main(CONFIG)
