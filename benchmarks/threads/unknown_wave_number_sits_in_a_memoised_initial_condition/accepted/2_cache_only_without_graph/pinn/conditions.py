import torch

from .utils import run_if_any_none


class Condition:
    def __init__(self, points):
        self.points = points

    def targets(self):
        raise NotImplementedError

    def error(self, net):
        return net(self.points) - self.targets()


class InitialCondition(Condition):
    """u(x, 0) = func(x)"""

    def __init__(self, points, func):
        super().__init__(points)
        self.func = func

    # func may be slow (splines, tables), the points never change
    @run_if_any_none("_values")
    def targets(self):
        return self.func(self.points)


class BoundaryCondition(Condition):
    """Dirichlet"""

    def __init__(self, points, func):
        super().__init__(points)
        self.func = func

    @run_if_any_none("_wall_values")
    def targets(self):
        return self.func(self.points)


class Observations(Condition):
    def __init__(self, points, values):
        super().__init__(points)
        self.values = values

    def targets(self):
        return self.values
