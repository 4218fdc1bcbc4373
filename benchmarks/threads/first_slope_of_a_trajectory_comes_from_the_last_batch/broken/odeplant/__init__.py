from .data import TankRecords
from .field import PlantField
from .solver import BogackiShampine
from .trainer import Trainer
