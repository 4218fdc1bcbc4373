# -*- coding: utf-8 -*-
"""
Seq2Seq + 注意力机制 日期格式转换 (机器翻译的小例子)
输入: 人类写的日期, 例如 "3 mar 2015"
输出: 机器格式的日期, 例如 "2015-03-03"
"""
import argparse
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

# ------------------------------------------------------------
# 超参数
# ------------------------------------------------------------
parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=32)
parser.add_argument('--emb_dim', type=int, default=24)
parser.add_argument('--enc_hid', type=int, default=32)
parser.add_argument('--dec_hid', type=int, default=32)
parser.add_argument('--dropout', type=float, default=0.2)
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--lr', type=float, default=3e-3)
parser.add_argument('--clip', type=float, default=1.0)
parser.add_argument('--teacher', type=float, default=0.6, help='teacher forcing 的概率')
parser.add_argument('--seed', type=int, default=2021)
args = parser.parse_args()

random.seed(args.seed)
torch.manual_seed(args.seed)
device = torch.device('cpu')

PAD, SOS, EOS, UNK = 0, 1, 2, 3
MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun',
          'jul', 'aug', 'sep', 'oct', 'nov', 'dec']


# ------------------------------------------------------------
# 数据
# ------------------------------------------------------------
class Vocab:
    """字符级词表"""

    def __init__(self, texts):
        chars = sorted(set(''.join(texts)))
        self.itos = ['<pad>', '<sos>', '<eos>', '<unk>'] + chars
        self.stoi = {c: i for i, c in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        return [SOS] + [self.stoi.get(c, UNK) for c in text] + [EOS]

    def decode(self, ids):
        out = []
        for i in ids:
            if i == EOS:
                break
            if i > UNK:
                out.append(self.itos[i])
        return ''.join(out)


def random_date():
    y = random.randint(1990, 2029)
    m = random.randint(1, 12)
    d = random.randint(1, 28)
    style = random.randint(0, 2)
    if style == 0:
        src = '%d %s %d' % (d, MONTHS[m - 1], y)
    elif style == 1:
        src = '%s %d, %d' % (MONTHS[m - 1], d, y)
    else:
        src = '%d/%d/%d' % (d, m, y)
    return src, '%d-%02d-%02d' % (y, m, d)


class DateDataset(Dataset):
    def __init__(self, n):
        self.pairs = [random_date() for _ in range(n)]
        self.src_vocab = Vocab([p[0] for p in self.pairs])
        self.trg_vocab = Vocab([p[1] for p in self.pairs])

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        s, t = self.pairs[i]
        return self.src_vocab.encode(s), self.trg_vocab.encode(t)


def collate(batch):
    """补齐到同样长度, 形状 [len, batch]"""
    src_len = max(len(s) for s, _ in batch)
    trg_len = max(len(t) for _, t in batch)
    src = torch.full((src_len, len(batch)), PAD, dtype=torch.long)
    trg = torch.full((trg_len, len(batch)), PAD, dtype=torch.long)
    for i, (s, t) in enumerate(batch):
        src[:len(s), i] = torch.tensor(s)
        trg[:len(t), i] = torch.tensor(t)
    return src, trg


# ------------------------------------------------------------
# 模型
# ------------------------------------------------------------
class Encoder(nn.Module):
    def __init__(self, input_dim, emb_dim, enc_hid, dec_hid, dropout):
        super().__init__()
        self.embedding = nn.Embedding(input_dim, emb_dim, padding_idx=PAD)
        self.rnn = nn.GRU(emb_dim, enc_hid, bidirectional=True)
        self.fc = nn.Linear(enc_hid * 2, dec_hid)
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, src):
        # src = [src len, batch size]
        embedded = self.dropout(self.embedding(src))
        outputs, hidden = self.rnn(embedded)
        # 双向 GRU 最后一层的前向和后向隐状态拼接, 作为解码器的初始状态
        hidden = torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        hidden = self.dropout(hidden.detach())
        return outputs, hidden


class Attention(nn.Module):
    """Bahdanau 加性注意力"""

    def __init__(self, enc_hid, dec_hid):
        super().__init__()
        self.attn = nn.Linear(enc_hid * 2 + dec_hid, dec_hid)
        self.v = nn.Linear(dec_hid, 1, bias=False)

    def forward(self, hidden, encoder_outputs, mask):
        src_len = encoder_outputs.shape[0]
        hidden = hidden.unsqueeze(1).repeat(1, src_len, 1)
        encoder_outputs = encoder_outputs.permute(1, 0, 2)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs), dim=2)))
        attention = self.v(energy).squeeze(2)
        # 不看 padding 的位置
        attention = attention.masked_fill(mask == 0, -1e10)
        return F.softmax(attention, dim=1)


class Decoder(nn.Module):
    def __init__(self, output_dim, emb_dim, enc_hid, dec_hid, dropout, attention):
        super().__init__()
        self.output_dim = output_dim
        self.attention = attention
        self.embedding = nn.Embedding(output_dim, emb_dim, padding_idx=PAD)
        self.rnn = nn.GRU(enc_hid * 2 + emb_dim, dec_hid)
        self.fc_out = nn.Linear(enc_hid * 2 + dec_hid + emb_dim, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(input.unsqueeze(0)))
        a = self.attention(hidden, encoder_outputs, mask).unsqueeze(1)
        weighted = torch.bmm(a, encoder_outputs.permute(1, 0, 2)).permute(1, 0, 2)
        output, hidden = self.rnn(torch.cat((embedded, weighted), dim=2), hidden.unsqueeze(0))
        prediction = self.fc_out(torch.cat((output.squeeze(0), weighted.squeeze(0),
                                            embedded.squeeze(0)), dim=1))
        return prediction, hidden.squeeze(0), a.squeeze(1)


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        trg_len, batch_size = trg.shape
        outputs = torch.zeros(trg_len, batch_size, self.decoder.output_dim, device=device)
        encoder_outputs, hidden = self.encoder(src)
        mask = (src != PAD).permute(1, 0)
        input = trg[0]
        for t in range(1, trg_len):
            output, hidden, _ = self.decoder(input, hidden, encoder_outputs, mask)
            outputs[t] = output
            teacher_force = random.random() < teacher_forcing_ratio
            input = trg[t] if teacher_force else output.argmax(1)
        return outputs


def init_weights(m):
    for name, param in m.named_parameters():
        if 'weight' in name:
            nn.init.normal_(param.data, mean=0, std=0.1)
        else:
            nn.init.constant_(param.data, 0)


# ------------------------------------------------------------
# 训练 / 验证
# ------------------------------------------------------------
def train(model, iterator, optimizer, criterion, clip):
    model.train()
    epoch_loss = 0
    for src, trg in iterator:
        src, trg = src.to(device), trg.to(device)
        optimizer.zero_grad()
        output = model(src, trg, args.teacher)
        output = output[1:].view(-1, output.shape[-1])
        loss = criterion(output, trg[1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        epoch_loss += loss.item()
    return epoch_loss / len(iterator)


def evaluate(model, iterator, criterion):
    model.eval()
    epoch_loss, right, total = 0, 0, 0
    with torch.no_grad():
        for src, trg in iterator:
            output = model(src, trg, 0)
            pred = output[1:].argmax(-1)
            keep = trg[1:] != PAD
            right += ((pred == trg[1:]) & keep).sum().item()
            total += keep.sum().item()
            loss = criterion(output[1:].view(-1, output.shape[-1]), trg[1:].reshape(-1))
            epoch_loss += loss.item()
    return epoch_loss / len(iterator), right / total


if __name__ == '__main__':
    data = DateDataset(192)
    train_iter = DataLoader(data, batch_size=args.batch_size, shuffle=True, collate_fn=collate)
    valid_iter = DataLoader(data, batch_size=64, collate_fn=collate)

    attn = Attention(args.enc_hid, args.dec_hid)
    enc = Encoder(len(data.src_vocab), args.emb_dim, args.enc_hid, args.dec_hid, args.dropout)
    dec = Decoder(len(data.trg_vocab), args.emb_dim, args.enc_hid, args.dec_hid, args.dropout, attn)
    model = Seq2Seq(enc, dec).to(device)
    model.apply(init_weights)
    print('模型参数个数: %d' % sum(p.numel() for p in model.parameters() if p.requires_grad))

    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)

    start = time.time()
    for epoch in range(args.epochs):
        train_loss = train(model, train_iter, optimizer, criterion, args.clip)
        valid_loss, acc = evaluate(model, valid_iter, criterion)
        print('Epoch: %02d | 训练损失: %.4f | 验证损失: %.4f | 字符准确率: %.4f'
              % (epoch + 1, train_loss, valid_loss, acc))

    # 看几个例子
    model.eval()
    with torch.no_grad():
        src, trg = collate([data[i] for i in range(3)])
        ids = model(src, trg, 0).argmax(-1)[1:]
        for i in range(3):
            print(repr(data.pairs[i][0]), '->', repr(data.trg_vocab.decode(ids[:, i].tolist())))
