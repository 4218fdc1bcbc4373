import numpy as np


def pick_peaks(y, sr, n_partials):
    """The n strongest local maxima of the spectrum: frequency, amplitude, phase (only as exact as a bin)."""
    win = np.hanning(len(y))
    spec = np.fft.rfft(y * win)
    mag = np.abs(spec)
    cand = [k for k in range(1, len(mag) - 1) if mag[k] > mag[k - 1] and mag[k] >= mag[k + 1]]
    best = sorted(sorted(cand, key=lambda k: -mag[k])[:n_partials])
    freqs = np.array([k * sr / len(y) for k in best])
    amps = np.array([2 * mag[k] / win.sum() for k in best])
    phases = np.angle(np.fft.rfft(y)[best]) + np.pi / 2
    return freqs, amps, phases
