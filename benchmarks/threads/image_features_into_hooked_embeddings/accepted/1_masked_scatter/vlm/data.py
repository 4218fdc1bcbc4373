import torch

IMAGE_TOKEN = 19


def mixed_batches(steps):
    """Batches with images, and now and then one of text only."""
    protos = torch.randn(6, 3, 5)
    for s in range(steps):
        ids = torch.randint(0, 18, (4, 8))
        if s % 3 == 2:
            yield {"input_ids": ids}
            continue
        c = torch.randint(0, 6, (4,))
        ids[:, 1:4] = IMAGE_TOKEN
        ids[:, 5] = c
        yield {"input_ids": ids, "pixels": protos[c] + 0.1 * torch.randn(4, 3, 5)}
