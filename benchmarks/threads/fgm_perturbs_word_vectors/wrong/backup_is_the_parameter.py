# -*- coding: utf-8 -*-
"""情感分类 + FGM 对抗训练（随机数据演示）"""
import argparse
import io
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
logger = logging.getLogger(__name__)


class FGM(object):
    """
    用法:
        loss.backward()          # 正常的梯度
        fgm.attack()             # 在 embedding 上加扰动
        loss_adv.backward()      # 累加对抗训练的梯度
        fgm.restore()            # 恢复 embedding 参数
    """

    def __init__(self, model, epsilon=1.0):
        self.model = model
        self.epsilon = epsilon
        self.backup = {}

    @torch.no_grad()
    def attack(self, emb_name="emb"):
        # emb_name 要换成模型中 embedding 的参数名
        for name, param in self.model.named_parameters():
            if param.requires_grad and emb_name in name:
                self.backup[name] = param.detach()
                norm = torch.norm(param.grad)
                if norm != 0 and not torch.isnan(norm):
                    r_at = self.epsilon * param.grad / norm
                    param.add_(r_at)

    def restore(self, emb_name="emb"):
        for name, param in self.model.named_parameters():
            if param.requires_grad and emb_name in name:
                assert name in self.backup
                param.data.copy_(self.backup[name])
        self.backup = {}


class TextCNN(nn.Module):
    def __init__(self, vocab=60, dim=12, filters=8, classes=2):
        super(TextCNN, self).__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(dim, filters, k, padding=k // 2) for k in (2, 3, 4)])
        self.dropout = nn.Dropout(0.0)
        self.fc = nn.Linear(3 * filters, classes)

    def forward(self, input_ids):
        x = self.emb(input_ids).transpose(1, 2)
        x = torch.cat([F.relu(conv(x)).max(dim=2)[0] for conv in self.convs], dim=1)
        return self.fc(self.dropout(x))


class EMAMeter(object):
    """滑动平均的 loss，只用于打印"""

    def __init__(self, decay=0.9):
        self.decay, self.value = decay, None

    def update(self, v):
        self.value = v if self.value is None else self.decay * self.value + (1 - self.decay) * v
        return self.value


def build_data(n, seq_len, vocab, generator):
    ids = torch.randint(1, vocab, (n, seq_len), generator=generator)
    lens = torch.randint(seq_len // 2, seq_len + 1, (n, 1), generator=generator)
    ids = ids * (torch.arange(seq_len)[None] < lens)
    labels = ((ids % 7 == 3).sum(1) > 0).long()
    return ids, labels


def evaluate(model, ids, labels):
    model.eval()
    with torch.no_grad():
        logits = model(ids)
        loss = F.cross_entropy(logits, labels).item()
        acc = (logits.argmax(1) == labels).float().mean().item()
    model.train()
    return loss, acc


def train(args):
    generator = torch.Generator().manual_seed(args.seed)
    torch.manual_seed(args.seed)
    model = TextCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    fgm = FGM(model, epsilon=args.epsilon)
    train_ids, train_labels = build_data(160, 14, 60, generator)
    dev_ids, dev_labels = build_data(60, 14, 60, generator)
    meter, best_acc, best_ckpt, global_step = EMAMeter(), -1.0, None, 0
    for epoch in range(args.epochs):
        order = torch.randperm(len(train_ids), generator=generator)
        for batch in order.split(args.batch_size):
            input_ids, labels = train_ids[batch], train_labels[batch]
            loss = F.cross_entropy(model(input_ids), labels)
            loss.backward()
            if args.use_fgm:
                # 对抗训练
                fgm.attack()
                loss_adv = F.cross_entropy(model(input_ids), labels)
                loss_adv.backward()
                fgm.restore()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
            global_step += 1
            meter.update(loss.item())
        scheduler.step()
        dev_loss, dev_acc = evaluate(model, dev_ids, dev_labels)
        logger.info("epoch %d step %d loss %.5f adv %.5f dev_loss %.5f dev_acc %.4f",
                    epoch, global_step, meter.value, loss_adv.item(), dev_loss, dev_acc)
        if dev_acc > best_acc:
            # 保存最好的模型
            best_acc = dev_acc
            best_ckpt = io.BytesIO()
            torch.save(model.state_dict(), best_ckpt)
    logger.info("best dev acc %.4f", best_acc)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=2021)
    parser.add_argument("--use_fgm", type=int, default=1)
    train(parser.parse_args())
