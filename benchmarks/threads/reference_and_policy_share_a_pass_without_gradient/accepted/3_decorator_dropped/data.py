import torch

PAD = -100


def preference_batches(n, batch_size, vocab=20, prompt_len=4, max_answer=6, seed=0):
    """prompt + answer; chosen answers count upwards, rejected ones are random tokens"""
    gen = torch.Generator().manual_seed(seed)
    for _ in range(n):
        prompt = torch.randint(0, vocab, (batch_size, prompt_len), generator=gen)
        step = torch.arange(1, max_answer + 1)
        chosen = (prompt[:, -1:] + step) % vocab
        rejected = torch.randint(0, vocab, (batch_size, max_answer), generator=gen)
        batch = {}
        for name, answer in (("chosen", chosen), ("rejected", rejected)):
            ids = torch.cat([prompt, answer], dim=1)
            labels = ids.clone()
            labels[:, :prompt_len] = PAD
            lengths = torch.randint(3, max_answer + 1, (batch_size, 1), generator=gen)
            labels[:, prompt_len:][step > lengths] = PAD
            batch[name + "_ids"], batch[name + "_labels"] = ids, labels
        yield batch
