"""
Word level language model on a small generated corpus, PTB style batching.

    python main.py --hidden_size 32 --num_layers 1 --bptt 12

The text comes from a toy grammar, so no download is needed.
"""
import argparse
import math
import random
import time
from collections import Counter

import torch
import torch.nn as nn

SUBJECTS = ['the cat', 'a dog', 'the old man', 'my sister', 'the teacher', 'a bird']
VERBS = ['sees', 'likes', 'follows', 'paints', 'hears']
OBJECTS = ['the house', 'a tree', 'the river', 'an apple', 'the moon']
PLACES = ['in the morning', 'near the lake', 'at home', 'on the hill']
CONNECTORS = ['and', 'but', 'because']


# ---------------------------------------------------------------------------------------------------------------------
# data
# ---------------------------------------------------------------------------------------------------------------------

def make_sentence(rng):
    words = f'{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}'
    if rng.random() < 0.5:
        words += ' ' + rng.choice(PLACES)
    if rng.random() < 0.3:
        words += f' {rng.choice(CONNECTORS)} {rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}'
    return words.split() + ['<eos>']


def make_text(n_sentences, seed):
    rng = random.Random(seed)
    words = []
    for _ in range(n_sentences):
        words.extend(make_sentence(rng))
    return words


class Dictionary(object):
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


class Corpus(object):
    def __init__(self, n_train=160, n_valid=40):
        self.dictionary = Dictionary()
        self.counter = Counter()
        train = make_text(n_train, seed=1)
        valid = make_text(n_valid, seed=2)
        for word in train + valid:
            self.dictionary.add_word(word)
        self.counter.update(train)
        self.train = self.tokenize(train)
        self.valid = self.tokenize(valid)

    def tokenize(self, words):
        return torch.tensor([self.dictionary.word2idx[w] for w in words], dtype=torch.long)

    def unigram_perplexity(self):
        total = sum(self.counter.values())
        nll = 0.0
        for idx in self.valid.tolist():
            count = self.counter[self.dictionary.idx2word[idx]]
            nll -= math.log((count + 1) / (total + len(self.dictionary)))
        return math.exp(nll / len(self.valid))


def batchify(data, batch_size):
    nbatch = data.size(0) // batch_size
    data = data[:nbatch * batch_size]
    return data.view(batch_size, -1)


def get_batch(source, i, bptt):
    seq_len = min(bptt, source.size(1) - 1 - i)
    return source[:, i:i + seq_len], source[:, i + 1:i + 1 + seq_len]


# ---------------------------------------------------------------------------------------------------------------------
# model
# ---------------------------------------------------------------------------------------------------------------------

class RNNLM(nn.Module):
    def __init__(self, vocab_size, embed_size, hidden_size, num_layers, dropout=0.1):
        super(RNNLM, self).__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.drop = nn.Dropout(dropout)
        self.embed = nn.Embedding(vocab_size, embed_size)
        self.lstm = nn.LSTM(embed_size, hidden_size, num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_size, vocab_size)
        self.init_weights()

    def init_weights(self):
        self.embed.weight.data.uniform_(-0.1, 0.1)
        self.linear.bias.data.fill_(0)
        self.linear.weight.data.uniform_(-0.1, 0.1)

    def init_hidden(self, batch_size):
        weight = next(self.parameters())
        return (weight.new_zeros(self.num_layers, batch_size, self.hidden_size),
                weight.new_zeros(self.num_layers, batch_size, self.hidden_size))

    def forward(self, x, hidden):
        x = self.drop(self.embed(x))
        out, hidden = self.lstm(x, hidden)
        out = self.drop(out)
        out = out.reshape(out.size(0) * out.size(1), out.size(2))
        return self.linear(out), hidden


# ---------------------------------------------------------------------------------------------------------------------
# training
# ---------------------------------------------------------------------------------------------------------------------

class LanguageModelTrainer(object):
    def __init__(self, model, corpus, args):
        self.model = model
        self.corpus = corpus
        self.args = args
        self.train_data = batchify(corpus.train, args.batch_size)
        self.valid_data = batchify(corpus.valid, args.eval_batch_size)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.best_valid = None

    def train_epoch(self, epoch):
        self.model.train()
        total_loss = 0.
        n_batches = 0
        start = time.time()
        hidden = self.model.init_hidden(self.args.batch_size)

        for i in range(0, self.train_data.size(1) - 1, self.args.bptt):
            inputs, targets = get_batch(self.train_data, i, self.args.bptt)

            hidden = tuple(h.detach() for h in hidden)
            outputs, hidden = self.model(inputs, hidden)
            loss = self.criterion(outputs, targets.reshape(-1))

            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
            self.optimizer.step()

            total_loss += loss.item()
            n_batches += 1
            if n_batches % self.args.log_interval == 0:
                print('Epoch [{}/{}], Step [{}], Loss: {:.4f}'.format(
                    epoch, self.args.epochs, n_batches, loss.item()))

        self.elapsed = time.time() - start
        return total_loss / n_batches

    def evaluate(self, data):
        self.model.eval()
        total_loss = 0.
        count = 0
        hidden = self.model.init_hidden(data.size(0))
        with torch.no_grad():
            for i in range(0, data.size(1) - 1, self.args.bptt):
                inputs, targets = get_batch(data, i, self.args.bptt)
                outputs, hidden = self.model(inputs, hidden)
                total_loss += self.criterion(outputs, targets.reshape(-1)).item() * inputs.size(1)
                count += inputs.size(1)
        return total_loss / count

    def fit(self):
        for epoch in range(1, self.args.epochs + 1):
            train_loss = self.train_epoch(epoch)
            valid_loss = self.evaluate(self.valid_data)
            print('-' * 60)
            print('| end of epoch {} | train loss {:.4f} | valid loss {:.4f} | valid ppl {:.3f}'.format(
                epoch, train_loss, valid_loss, math.exp(valid_loss)))
            print('-' * 60)
            if self.best_valid is None or valid_loss < self.best_valid:
                self.best_valid = valid_loss
            else:
                for group in self.optimizer.param_groups:
                    group['lr'] /= 4.0

    def sample(self, n_words=12):
        self.model.eval()
        words = []
        with torch.no_grad():
            hidden = self.model.init_hidden(1)
            token = torch.tensor([[self.corpus.dictionary.word2idx['<eos>']]])
            for _ in range(n_words):
                output, hidden = self.model(token, hidden)
                token = output.argmax(1, keepdim=True)
                words.append(self.corpus.dictionary.idx2word[token.item()])
        return ' '.join(words)


def get_args():
    parser = argparse.ArgumentParser(description='LSTM language model')
    parser.add_argument('--embed_size', type=int, default=16)
    parser.add_argument('--hidden_size', type=int, default=32)
    parser.add_argument('--num_layers', type=int, default=1)
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--eval_batch_size', type=int, default=4)
    parser.add_argument('--bptt', type=int, default=12, help='sequence length')
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--lr', type=float, default=0.01)
    parser.add_argument('--clip', type=float, default=0.5, help='gradient clipping')
    parser.add_argument('--log_interval', type=int, default=6)
    parser.add_argument('--seed', type=int, default=1111)
    return parser.parse_args()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    corpus = Corpus()
    print('vocabulary: {} words, {} training tokens'.format(len(corpus.dictionary), corpus.train.numel()))
    print('unigram ppl {:.3f}'.format(corpus.unigram_perplexity()))
    model = RNNLM(len(corpus.dictionary), args.embed_size, args.hidden_size, args.num_layers)
    trainer = LanguageModelTrainer(model, corpus, args)
    trainer.fit()
    print('sample:', trainer.sample())


if __name__ == '__main__':
    main()
