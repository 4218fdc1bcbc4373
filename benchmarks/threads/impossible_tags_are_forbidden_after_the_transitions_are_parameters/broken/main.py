# -*- coding: utf-8 -*-
# 命名实体识别:BiLSTM + CRF,玩具语料
import torch
from torch import optim

import config
from data_util import build_corpus, iter_batches
from model import BiLSTM_CRF


def evaluate(model, corpus):
    model.eval()
    hit = total = 0
    with torch.no_grad():
        for words, tags in iter_batches(corpus, config.batch_size):
            for i, path in enumerate(model.predict(words)):
                hit += sum(int(p == t) for p, t in zip(path, tags[i].tolist()))
                total += len(path)
    model.train()
    return hit / total


def main():
    torch.manual_seed(config.seed)
    train, dev = build_corpus(64, 1), build_corpus(24, 2)
    model = BiLSTM_CRF(config.vocab_size, config.tag2id, config.embedding_dim, config.hidden_dim)
    optimizer = optim.Adam(model.parameters(), lr=config.lr)

    for epoch in range(config.epochs):
        total = 0.
        for words, tags in iter_batches(train, config.batch_size):
            model.zero_grad()
            loss = model.neg_log_likelihood(words, tags)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print('epoch %d, loss %.6f, dev acc %.6f' % (epoch, total, evaluate(model, dev)))

    # 看看学到的转移分数
    t = model.transitions
    print('B->I %.6f  I->O %.6f' % (t[config.tag2id['I'], config.tag2id['B']].item(),
                                    t[config.tag2id['O'], config.tag2id['I']].item()))


if __name__ == '__main__':
    main()
