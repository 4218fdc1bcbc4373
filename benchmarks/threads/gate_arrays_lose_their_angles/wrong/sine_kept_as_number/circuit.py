import torch
import torch.nn as nn

from gates import CZ, Rx, Ry


def on_wire(gate, wire):
    eye = torch.eye(2, dtype=torch.complex64)
    return torch.kron(gate, eye) if wire == 0 else torch.kron(eye, gate)


class SentenceModel(nn.Module):
    """Every word owns three angles on its wire; a sentence (subject, verb) is a two-qubit circuit measured on wire 1."""

    def __init__(self, vocabulary):
        super().__init__()
        self.index = {w: i for i, w in enumerate(vocabulary)}
        self.x_angles = nn.Parameter(torch.rand(len(vocabulary), 2))
        self.y_angles = nn.Parameter(torch.rand(len(vocabulary)))

    def word(self, w, wire):
        i = self.index[w]
        first = on_wire(Rx(self.x_angles[i, 0]).array, wire)
        middle = on_wire(Ry(self.y_angles[i]).array, wire)
        last = on_wire(Rx(self.x_angles[i, 1]).array, wire)
        return last @ middle @ first

    def forward(self, sentence):
        state = torch.zeros(4, dtype=torch.complex64)
        state[0] = 1
        for wire, w in enumerate(sentence):
            state = self.word(w, wire) @ state
        state = CZ.array @ state
        for wire, w in enumerate(sentence):
            state = self.word(w, wire) @ state
        probs = state.abs() ** 2
        return probs[1] + probs[3]
