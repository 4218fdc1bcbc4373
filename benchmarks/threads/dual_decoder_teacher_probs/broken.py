import torch
import torch.nn as nn
import torch.nn.functional as F


class DualDecoder(nn.Module):
    def __init__(self, vocab=9, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.teacher = nn.Sequential(nn.Linear(dim, 2 * dim), nn.Tanh(), nn.Linear(2 * dim, vocab))
        self.student = nn.Linear(dim, vocab)

    def encode(self, src):
        return self.encoder(self.embed(src))[0]


class DualTrainer:
    def __init__(self, model, kd_weight=0.7, temperature=2.0):
        self.model, self.kd_weight, self.t = model, kd_weight, temperature
        self.opt_teacher = torch.optim.Adam(
            [*model.embed.parameters(), *model.encoder.parameters(), *model.teacher.parameters()], lr=5e-3)
        self.opt_student = torch.optim.Adam(model.student.parameters(), lr=5e-3)

    def kd_loss(self, student_logits, teacher_logits):
        teacher_probs = F.softmax(teacher_logits / self.t, dim=-1)
        logp = F.log_softmax(student_logits / self.t, dim=-1)
        return -(teacher_probs * logp).sum(-1).mean() * self.t ** 2

    def step(self, src, tgt):
        for opt in (self.opt_teacher, self.opt_student):
            opt.zero_grad()
        memory = self.model.encode(src)
        teacher_logits = self.model.teacher(memory)
        student_logits = self.model.student(memory.detach())
        teacher_loss = F.cross_entropy(teacher_logits.flatten(0, 1), tgt.flatten())
        student_loss = (1 - self.kd_weight) * F.cross_entropy(student_logits.flatten(0, 1), tgt.flatten())
        student_loss = student_loss + self.kd_weight * self.kd_loss(student_logits, teacher_logits)
        teacher_loss.backward()
        student_loss.backward()
        self.opt_teacher.step()
        self.opt_student.step()
        return teacher_loss.item(), student_loss.item()


if __name__ == "__main__":
    torch.manual_seed(391)
    trainer = DualTrainer(DualDecoder())
    for batch in range(6):
        src = torch.randint(0, 9, (8, 5))
        values = trainer.step(src, src.flip(1))
    print("teacher %.6f student %.6f" % values)
