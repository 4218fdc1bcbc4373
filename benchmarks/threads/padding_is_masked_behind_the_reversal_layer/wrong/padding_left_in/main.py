import torch
import torch.nn.functional as F

from data import batches
from hparams import hparams as hp
from modules import ProsodyDecoder, SpeakerClassifier, TextEncoder


def train():
    torch.manual_seed(hp['seed'])
    encoder, decoder, speaker_classifier = TextEncoder(hp), ProsodyDecoder(hp), SpeakerClassifier(hp)
    params = [p for m in (encoder, decoder, speaker_classifier) for p in m.parameters()]
    optimizer = torch.optim.Adam(params, lr=hp['learning_rate'])

    running = torch.zeros(3)
    for it, (sym, lengths, spk, target, keep) in enumerate(batches(hp, hp['iters']), 1):
        optimizer.zero_grad()
        encoder_outputs = encoder(sym)
        prosody = decoder(encoder_outputs)
        spk_logits = speaker_classifier(encoder_outputs, lengths)

        mel_loss = (((prosody - target) ** 2).mean(-1) * keep).sum() / keep.sum()
        spk_loss = F.cross_entropy(spk_logits, spk)
        loss = mel_loss + hp['speaker_loss_weight'] * spk_loss
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()

        running += torch.tensor([mel_loss.item(), spk_loss.item(), grad_norm.item()])
        if it % hp['iters_per_log'] == 0:
            print('iter {} prosody {:.6f} speaker {:.6f} grad {:.6f}'.format(it, *(running / hp['iters_per_log']).tolist()))
            running.zero_()


if __name__ == '__main__':
    train()
