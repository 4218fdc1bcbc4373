from dataclasses import dataclass


@dataclass
class FitConfig:
    device: str = "cpu"
    lr: float = 0.05
    gamma: float = 0.9
    w_verts: float = 10.0
    w_joints: float = 2.0
    w_pose: float = 0.05
    w_smooth: float = 0.2


# which parameters move in which stage, and for how many iterations
STAGES = [
    {"name": "root", "free": ["trans"], "iters": 3},
    {"name": "pose", "free": ["trans", "poses"], "iters": 4},
    {"name": "all", "free": ["trans", "poses", "betas"], "iters": 5},
]
