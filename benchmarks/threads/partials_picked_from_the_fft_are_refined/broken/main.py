# Analysis by synthesis of a bell: pick the partials from the FFT, then refine
# frequency, amplitude, decay and phase of each of them by gradient descent.
import numpy as np
import torch

from data import SR, bell
from peaks import pick_peaks
from synth import modal_synth, spectral_loss

N_PARTIALS = 5
STEPS = 60


def init_params(y):
    freqs, amps, phases = pick_peaks(y, SR, N_PARTIALS)
    init = {
        'freq': freqs,
        'amp': amps,
        'phase': phases,
        'decay': np.full(N_PARTIALS, 4.0),
    }
    return {name: torch.tensor(value, dtype=torch.float32) for name, value in init.items()}


torch.manual_seed(0)
y = bell()
target = torch.from_numpy(y)
params = init_params(y)
print('peaks at', ' '.join('%.2f' % f for f in params['freq'].tolist()))

optimizer = torch.optim.Adam([
    {'params': [params['freq']], 'lr': 0.05},
    {'params': [params['amp'], params['phase'], params['decay']], 'lr': 0.02},
])

for step in range(STEPS):
    audio = modal_synth(params, len(target), SR)
    loss = spectral_loss(audio, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 0 or step == STEPS - 1:
        print('step %3d  loss %.6f' % (step, loss.item()))

print('freq ', ' '.join('%.4f' % f for f in params['freq'].tolist()))
print('amp  ', ' '.join('%.4f' % a for a in params['amp'].tolist()))
print('decay', ' '.join('%.4f' % d for d in params['decay'].tolist()))
