import torch
import torch.nn as nn

from config import START_TAG, STOP_TAG


class BiLSTM_CRF(nn.Module):

    def __init__(self, vocab_size, tag2id, embedding_dim, hidden_dim):
        super(BiLSTM_CRF, self).__init__()
        self.tag2id = tag2id
        self.tagset_size = len(tag2id)
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, batch_first=True, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)
        # 转移矩阵,transitions[i, j] 表示从 j 转移到 i 的分数
        self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
        self.add_constraints()

    def add_constraints(self):
        """不可能转移到 START,也不可能从 STOP 转移出去;O 后面不能是 I"""
        start, stop = self.tag2id[START_TAG], self.tag2id[STOP_TAG]
        for i, j in ((start, slice(None)), (slice(None), stop),
                     (self.tag2id['I'], self.tag2id['O']), (self.tag2id['I'], start)):
            self.transitions.detach().clone()[i, j] = -10000.

    def _get_lstm_features(self, words):
        out, _ = self.lstm(self.word_embeds(words))
        return self.hidden2tag(out)

    def _forward_alg(self, feats):
        alpha = feats.new_full((feats.size(0), self.tagset_size), -10000.)
        alpha[:, self.tag2id[START_TAG]] = 0.
        for t in range(feats.size(1)):
            # (batch, next, prev)
            score = alpha.unsqueeze(1) + self.transitions + feats[:, t].unsqueeze(2)
            alpha = torch.logsumexp(score, 2)
        return torch.logsumexp(alpha + self.transitions[self.tag2id[STOP_TAG]], 1)

    def _score_sentence(self, feats, tags):
        start = torch.full_like(tags[:, :1], self.tag2id[START_TAG])
        path = torch.cat([start, tags], 1)
        emit = feats.gather(2, tags.unsqueeze(2)).squeeze(2).sum(1)
        trans = self.transitions[path[:, 1:], path[:, :-1]].sum(1)
        return emit + trans + self.transitions[self.tag2id[STOP_TAG], path[:, -1]]

    def neg_log_likelihood(self, words, tags):
        feats = self._get_lstm_features(words)
        return (self._forward_alg(feats) - self._score_sentence(feats, tags)).mean()

    def predict(self, words):
        """维特比解码"""
        feats = self._get_lstm_features(words)
        delta = feats.new_full((feats.size(0), self.tagset_size), -10000.)
        delta[:, self.tag2id[START_TAG]] = 0.
        back = []
        for t in range(feats.size(1)):
            best, idx = (delta.unsqueeze(1) + self.transitions).max(2)
            delta = best + feats[:, t]
            back.append(idx)
        last = (delta + self.transitions[self.tag2id[STOP_TAG]]).argmax(1)
        path = [last]
        for idx in reversed(back[1:]):
            path.append(idx.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        return torch.stack(path[::-1], 1).tolist()
