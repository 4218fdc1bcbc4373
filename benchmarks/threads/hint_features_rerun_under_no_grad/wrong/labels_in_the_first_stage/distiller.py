import torch
import torch.nn.functional as F

from taps import FeatureTap, attention_map

PAIRS = [("block1", "block1", 0.5), ("block2", "block2", 1.0)]


class Distiller:
    def __init__(self, student, teacher, optimizer, opt):
        self.student, self.teacher, self.optimizer, self.opt = student, teacher, optimizer, opt
        self.teacher.eval()
        self.tap_s = FeatureTap(student, [s for s, _, _ in PAIRS])
        self.tap_t = FeatureTap(teacher, [t for _, t, _ in PAIRS])

    def hierarchical_loss(self, x):
        """attention transfer at two depths"""
        self.tap_s.clear(); self.tap_t.clear()
        with torch.no_grad():
            self.teacher(x)
            self.student(x)
        loss = 0.
        for s, t, w in PAIRS:
            a_s, a_t = attention_map(self.tap_s.cache[s]), attention_map(self.tap_t.cache[t])
            loss = loss + w * (a_s - a_t).pow(2).sum(1).mean()
        return self.opt.beta * loss

    def kd_loss(self, logits, x):
        T = self.opt.temperature
        with torch.no_grad():
            target = F.softmax(self.teacher(x) / T, 1)
        return F.kl_div(F.log_softmax(logits / T, 1), target, reduction="batchmean") * T * T

    def step(self, epoch, x, y):
        logits = self.student(x)
        hint = self.hierarchical_loss(x)
        if epoch < self.opt.hint_epochs:
            # stage 1 (FitNets): only the intermediate layers, no labels yet
            loss = F.cross_entropy(logits, y) + hint
        else:
            loss = F.cross_entropy(logits, y) + self.opt.alpha * self.kd_loss(logits, x) + hint
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), hint.item()
