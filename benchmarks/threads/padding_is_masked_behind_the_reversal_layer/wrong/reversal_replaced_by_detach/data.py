import torch


def batches(hp, n, seed=0):
    """Symbols whose statistics depend on the speaker; prosody contours depend on symbols."""
    g = torch.Generator().manual_seed(seed)
    bias = 1.5 * torch.randn(hp['n_speakers'], hp['n_symbols'], generator=g)
    table = torch.randn(hp['n_symbols'], hp['n_prosody'], generator=g)
    for _ in range(n):
        spk = torch.randint(0, hp['n_speakers'], (hp['batch_size'],), generator=g)
        lengths = torch.randint(5, 13, (hp['batch_size'],), generator=g)
        probs = torch.softmax(bias[spk], 1)
        sym = torch.multinomial(probs, int(lengths.max()), replacement=True, generator=g)
        pad = torch.arange(sym.size(1))[None] >= lengths[:, None]
        sym = sym.masked_fill(pad, 0)
        target = 0.7 * table[sym] + 0.3 * table[sym.roll(1, 1)]
        yield sym, lengths, spk, target, (~pad).float()
