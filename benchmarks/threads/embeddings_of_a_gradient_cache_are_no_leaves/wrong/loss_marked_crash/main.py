"""Dense retrieval with large in-batch negatives on one small device."""
import torch

from gradcache import GradCacheStep
from towers import Tower, contrastive_loss

VOCAB, WIDTH, BATCH, CHUNK = 60, 16, 48, 8


def make_pairs(n):
    """A query shares three words with its passage."""
    passages = torch.randint(0, VOCAB, (n, 12))
    queries = torch.cat([passages[:, :3], torch.randint(0, VOCAB, (n, 2))], 1)
    return queries, passages


@torch.no_grad()
def recall_at_1(q_tower, p_tower, queries, passages):
    scores = q_tower(queries) @ p_tower(passages).t()
    return (scores.argmax(1) == torch.arange(len(queries))).float().mean().item()


def main():
    torch.manual_seed(17)
    q_tower, p_tower = Tower(VOCAB, WIDTH), Tower(VOCAB, WIDTH)
    opt = torch.optim.SGD([*q_tower.parameters(), *p_tower.parameters()], lr=0.5, momentum=0.9)
    step = GradCacheStep([q_tower, p_tower], CHUNK, contrastive_loss)
    queries, passages = make_pairs(144)
    for epoch in range(3):
        for idx in torch.randperm(len(queries)).split(BATCH):
            opt.zero_grad()
            loss = step(queries[idx], passages[idx])
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f} recall {recall_at_1(q_tower, p_tower, queries, passages):.3f}")


if __name__ == "__main__":
    main()
