import torch
import torch.nn.functional as F


class Distiller:
    def __init__(self, teacher, student, keep, temperature=2.0, alpha_ce=0.7, alpha_cos=0.3, lr=2e-3):
        self.teacher, self.student, self.keep = teacher, student, keep
        self.T, self.alpha_ce, self.alpha_cos = temperature, alpha_ce, alpha_cos
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.teacher.eval()
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=lr)

    def loss(self, tokens, labels):
        with torch.no_grad():
            t_logits, t_states = self.teacher(tokens)
        s_logits, s_states = self.student(tokens)
        soft = F.kl_div(F.log_softmax(s_logits / self.T, -1), F.softmax(t_logits / self.T, -1), reduction="batchmean") * self.T ** 2
        hard = F.cross_entropy(s_logits, labels)
        cos = 0.0
        for i, j in enumerate(self.keep):
            cos = cos + (1 - F.cosine_similarity(s_states[i], t_states[j], dim=-1)).mean() / len(self.keep)
        return self.alpha_ce * soft + (1 - self.alpha_ce) * hard + self.alpha_cos * cos

    def epoch(self, data, batch_size):
        self.student.train()
        total = 0.0
        for tokens, labels in data.batches(batch_size):
            loss = self.loss(tokens, labels)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.student.parameters(), 5.0)
            self.optimizer.step()
            total += loss.item() * len(tokens)
        return total / len(data.x)
