# 표 데이터용 신경망 부스팅 (GrowNet 비슷하게, corrective step 없이)
import argparse

import torch
import torch.nn as nn


def load_table(n=96, d=6):
    """합성 회귀 데이터"""
    x = torch.randn(n, d)
    y = torch.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * torch.randn(n)
    return x, y.unsqueeze(1)


class WeakLearner(nn.Module):
    def __init__(self, d, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x)


class BoostedEnsemble:
    """
    F_k(x) = F_{k-1}(x) + shrinkage * f_k(x)

    한 단계에서는 새 학습기 f_k 만 맞춘다. 이미 맞춘 학습기들은 그대로 둔다 (stage-wise).
    optimizer 는 하나만 쓴다: 모든 단계가 같은 lr 스케줄을 이어서 쓰기 때문에 param group 만 추가한다.
    """

    def __init__(self, d, width=8, shrinkage=0.5, lr=0.05, momentum=0.5):
        self.d, self.width = d, width
        self.shrinkage = shrinkage
        self.lr, self.momentum = lr, momentum
        self.learners = []
        self.optimizer = None
        self.scheduler = None

    def _new_learner(self):
        learner = WeakLearner(self.d, self.width)
        if self.optimizer is None:
            self.optimizer = torch.optim.SGD(learner.parameters(), lr=self.lr, momentum=self.momentum)
        else:
            now = self.optimizer.param_groups[0]["lr"]
            self.optimizer.add_param_group({"params": list(learner.parameters()), "lr": now})
        self.learners.append(learner)
        return learner

    def decay(self, factor=0.9):
        for g in self.optimizer.param_groups:
            g["lr"] *= factor

    def fit(self, x, y, stages=3, epochs=5, verbose=True):
        crit = nn.MSELoss()
        F_x = torch.zeros_like(y) + y.mean()      # F_0: 평균
        for k in range(stages):
            f = self._new_learner()
            for _ in range(epochs):
                pred = F_x + self.shrinkage * f(x)
                loss = crit(pred, y)
                self.optimizer.zero_grad()
                loss.backward(retain_graph=True)
                self.optimizer.step()
            # 이번 단계 결과를 앙상블에 더하기
            F_x = F_x + self.shrinkage * f(x)
            self.decay()
            if verbose:
                print("stage %d  mse %.6f" % (k, loss.item()))
        return F_x

    @torch.no_grad()
    def predict(self, x, base):
        out = base.clone()
        for f in self.learners:
            out += self.shrinkage * f(x)
        return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stages", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--shrinkage", type=float, default=0.5)
    ap.add_argument("--subsample", type=float, default=1.0)  # TODO: 아직 안 씀
    args = ap.parse_args()

    torch.manual_seed(40)
    x, y = load_table()
    x_te, y_te = load_table(32)
    ens = BoostedEnsemble(x.size(1), shrinkage=args.shrinkage)
    ens.fit(x, y, args.stages, args.epochs)
    base = torch.zeros_like(y_te) + y.mean()
    err = (ens.predict(x_te, base) - y_te).pow(2).mean()
    print("test mse %.6f" % err.item())


if __name__ == "__main__":
    main()
