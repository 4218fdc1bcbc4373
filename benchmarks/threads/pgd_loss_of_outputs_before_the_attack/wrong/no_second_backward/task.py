# -*- coding: utf-8 -*-
from adversarial import PGD


class Task(object):
    def __init__(self, module, optimizer, loss_function, **kwargs):
        self.module = module
        self.optimizer = optimizer
        self.loss_function = loss_function

    def _get_train_loss(self, inputs, outputs, **kwargs):
        loss = self.loss_function(outputs, inputs["label_ids"])
        return outputs, loss

    def _on_backward(self, inputs, outputs, logits, loss, **kwargs):
        loss.backward()
        return loss

    def _on_optimize(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self, loader, epochs=1):
        for epoch in range(epochs):
            self.module.train()
            running = 0.0
            for inputs in loader:
                outputs = self.module(**inputs)
                logits, loss = self._get_train_loss(inputs, outputs)
                loss = self._on_backward(inputs, outputs, logits, loss)
                self._on_optimize()
                running += loss.item()
            print("epoch {} loss {:.6f}".format(epoch, running / len(loader)))


class PGDTask(Task):
    """标准 PGD：干净样本的梯度 + 第 K 步对抗样本的梯度，一起更新。"""

    def __init__(self, *args, K=3, **kwargs):
        super().__init__(*args, **kwargs)
        self.K = K
        self.pgd = PGD(self.module)

    def _on_backward(self, inputs, outputs, logits, loss, **kwargs):
        loss.backward()
        self.pgd.backup_grad()
        # 对抗训练
        for t in range(self.K):
            self.pgd.attack(is_first_attack=(t == 0))  # first attack 时备份 param.data
            if t != self.K - 1:
                pass
            else:
                self.pgd.restore_grad()
            logits = self.module(**inputs)
            logits, loss_adv = self._get_train_loss(inputs, outputs, **kwargs)
        self.pgd.restore()  # 恢复 embedding 参数
        return loss
