from losses import MultipleNegativesRankingLoss
from pairs import PairDataset, VOCAB
from sentence_encoder import SentenceEncoder
import torch

torch.manual_seed(5)


def train():
    model = SentenceEncoder(len(VOCAB), dim=16)
    criterion = MultipleNegativesRankingLoss(scale=10.0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    dataset = PairDataset(48)

    for epoch in range(3):
        model.train()
        total = 0.0
        batches = list(dataset.batches(12))
        for questions, answers in batches:
            emb_q = model.encode(questions).requires_grad_()
            emb_a = model.encode(answers).requires_grad_()
            loss = criterion(emb_q, emb_a)

            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "loss %.5f" % (total / len(batches)))

    # how often is the right answer the nearest?
    model.eval()
    questions, answers = next(dataset.batches(48))
    hits = (model.encode(questions) @ model.encode(answers).T).argmax(1) == torch.arange(48)
    print("recall@1: %.4f" % hits.float().mean().item())


if __name__ == "__main__":
    train()
