import numpy as np
import torch

from data import EchoScenes
from nkf import NKF

SEED, EPOCHS, BATCH, LR = 5, 5, 6, 5e-3


def erle(mic, est):
    return 10 * torch.log10(mic.pow(2).mean() / est.pow(2).mean()).item()


def run():
    torch.manual_seed(SEED)
    scenes = EchoScenes(n=24, length=64, taps=6, seed=SEED)
    model = NKF(taps=6, hidden=16)
    optim = torch.optim.Adam(model.parameters(), lr=LR)
    for epoch in range(EPOCHS):
        losses = []
        for far, mic, echo in scenes.batches(BATCH):
            echo_hat = model(far, mic)
            loss = (echo_hat - echo).pow(2).mean() / echo.pow(2).mean()
            optim.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.)
            optim.step()
            losses.append(loss.item())
        print('epoch %d  nmse %.6f' % (epoch, np.mean(losses)))
    far, mic, echo = next(scenes.batches(BATCH))
    with torch.no_grad():
        est = model(far, mic)
    print('ERLE %.6f dB' % erle(echo, echo - est))


if __name__ == '__main__':
    run()
