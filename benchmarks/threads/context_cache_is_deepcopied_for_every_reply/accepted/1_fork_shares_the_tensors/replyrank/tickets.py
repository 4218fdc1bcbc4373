import torch

N_TOPICS, WORDS_PER_TOPIC, N_FILL = 6, 4, 12
VOCAB = N_TOPICS * WORDS_PER_TOPIC + N_FILL


class TicketSet:
    """Helpdesk-Tickets (künstlich): ein Thema verrät sich durch wenige Wörter, die Antwort greift es auf."""

    def __init__(self, n, n_replies=3, context_len=14, reply_len=5, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.context = torch.randint(N_TOPICS * WORDS_PER_TOPIC, VOCAB, (n, context_len), generator=g)
        self.replies = torch.empty(n, n_replies, reply_len, dtype=torch.long)
        self.label = torch.randint(0, n_replies, (n,), generator=g)
        for i in range(n):
            topics = torch.randperm(N_TOPICS, generator=g)
            spots = torch.randperm(context_len, generator=g)[:4]
            self.context[i, spots] = self._words(int(topics[0]), 4, g)
            others = topics[1:].tolist()
            for r in range(n_replies):
                topic = int(topics[0]) if r == int(self.label[i]) else others[r]
                reply = torch.randint(N_TOPICS * WORDS_PER_TOPIC, VOCAB, (reply_len,), generator=g)
                at = torch.randperm(reply_len, generator=g)[:3]
                reply[at] = self._words(topic, 3, g)
                self.replies[i, r] = reply

    @staticmethod
    def _words(topic, n, g):
        return topic * WORDS_PER_TOPIC + torch.randint(0, WORDS_PER_TOPIC, (n,), generator=g)

    def loader(self, size, shuffle=False):
        order = torch.randperm(len(self.label)) if shuffle else torch.arange(len(self.label))
        for idx in order.split(size):
            yield self.context[idx], self.replies[idx], self.label[idx]
