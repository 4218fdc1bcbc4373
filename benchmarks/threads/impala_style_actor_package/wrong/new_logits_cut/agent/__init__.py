from .actor import Actor
from .learner import Learner
from .net import make_net
