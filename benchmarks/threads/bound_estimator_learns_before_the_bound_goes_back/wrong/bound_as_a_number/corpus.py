import torch


def utterances(num_speakers=4, per_speaker=24, frames=6, mels=10, seed=17):
    """Mel patches: phone-like content plus a constant colour per speaker."""
    g = torch.Generator().manual_seed(seed)
    colour = torch.randn(num_speakers, mels, generator=g)
    phones = torch.randn(12, mels, generator=g)
    speaker = torch.arange(num_speakers).repeat_interleave(per_speaker)
    script = torch.randint(0, 12, (len(speaker), frames), generator=g)
    mel = phones[script] + colour[speaker].unsqueeze(1) + 0.1 * torch.randn(len(speaker), frames, mels, generator=g)
    return mel, speaker


def loader(mel, speaker, batch_size, g):
    for index in torch.randperm(len(mel), generator=g).split(batch_size):
        yield mel[index], speaker[index]
