import torch


class Beam:
    """particles (n, 4): x, x', y, y' """

    def __init__(self, p):
        self.p = p

    @classmethod
    def gaussian(cls, n):
        return cls(torch.randn(n, 4) * torch.tensor([1e-3, 2e-4, 1e-3, 2e-4]) + torch.tensor([8e-4, 0., -2e-4, 0.]))

    def sigma(self):
        return self.p[:, 0].std(), self.p[:, 2].std()

    def mean(self):
        return self.p[:, 0].mean(), self.p[:, 2].mean()


class Element:
    length = 0.0

    def track(self, beam):
        raise NotImplementedError

    def split(self, n):
        return [self]


class Drift(Element):
    def __init__(self, length):
        self.length = length

    def track(self, beam):
        x, xp, y, yp = beam.p.unbind(1)
        return Beam(torch.stack([x + self.length * xp, xp, y + self.length * yp, yp], 1))

    def split(self, n):
        return [Drift(self.length / n) for _ in range(n)]


class Quadrupole(Element):
    def __init__(self, name, length, k1=0.):
        self.name, self.length, self.k1 = name, length, torch.as_tensor(k1)

    def track(self, beam):
        # thin lens between two half drifts
        half = Drift(self.length / 2)
        x, xp, y, yp = half.track(beam).p.unbind(1)
        kl = self.k1 * self.length
        return half.track(Beam(torch.stack([x, xp - kl * x, y, yp + kl * y], 1)))

    def split(self, n):
        return [Quadrupole(self.name, self.length / n, self.k1) for _ in range(n)]


class Corrector(Element):
    def __init__(self, name, angle=0.):
        self.name, self.angle = name, torch.as_tensor(angle)

    def track(self, beam):
        x, xp, y, yp = beam.p.unbind(1)
        return Beam(torch.stack([x, xp + self.angle, y, yp], 1))


class Segment:
    def __init__(self, elements):
        self.elements = elements

    def quadrupoles(self):
        return [e for e in self.elements if isinstance(e, Quadrupole)]

    def find(self, name):
        return next(e for e in self.elements if getattr(e, 'name', None) == name)

    def track(self, beam):
        for e in self.elements:
            beam = e.track(beam)
        return beam
