import torch


def utterances(batches, batch, frames=6, tokens=3, n_mels=5, vocab=7):
    """Stand-in speech: every token colours some frames."""
    g = torch.Generator().manual_seed(5)
    colours = torch.randn(vocab, n_mels, generator=g)
    for _ in range(batches):
        labels = torch.randint(1, vocab, (batch, tokens), generator=g)
        feats = colours[labels].repeat_interleave(frames // tokens, dim=1)
        yield feats + 0.1 * torch.randn(feats.shape, generator=g), labels
