import torch
import torch.nn.functional as F


class Distiller:
    """Alternates: student follows the teacher on generated inputs; generator looks for inputs the teacher is sure about."""

    def __init__(self, cfg, teacher, student, generator):
        self.cfg, self.teacher, self.student, self.generator = cfg, teacher, student, generator
        self.opt_s = torch.optim.SGD(student.parameters(), lr=cfg.lr_s, momentum=0.9)
        self.opt_g = torch.optim.Adam(generator.parameters(), lr=cfg.lr_g)

    @torch.no_grad()
    def ask_teacher(self, x):
        logits, feat = self.teacher(x, feat=True)
        return logits, feat

    def student_step(self):
        with torch.no_grad():
            x = self.generator.sample(self.cfg.batch)
        t, _ = self.ask_teacher(x)
        s = self.student(x)
        loss = F.kl_div(F.log_softmax(s, 1), F.softmax(t, 1), reduction="batchmean")
        self.opt_s.zero_grad()
        loss.backward()
        self.opt_s.step()
        return loss.item()

    def generator_step(self):
        cfg = self.cfg
        x = self.generator.sample(cfg.batch)
        t, feat = self.ask_teacher(x)
        one_hot = F.cross_entropy(t, t.argmax(1))
        activation = -feat.abs().mean()
        p = F.softmax(t, 1).mean(0)
        information = (p * p.log()).sum()
        loss = cfg.w_oh * one_hot + cfg.w_act * activation + cfg.w_ie * information
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def epoch(self):
        s = g = 0.0
        for _ in range(self.cfg.iters):
            for _ in range(self.cfg.k_student):
                s = self.student_step()
            g = self.generator_step()
        return {"s": s, "g": g}

    @torch.no_grad()
    def agreement(self):
        x = torch.linspace(-1, 1, 40 * self.cfg.dim).view(self.cfg.dim, 40).t()
        return (self.teacher(x).argmax(1) == self.student(x).argmax(1)).float().mean().item()

    def norms(self):
        return tuple(sum(p.norm().item() for p in m.parameters()) for m in (self.student, self.generator))
