"""2-D pose graph with loop closures, solved by gradient descent. Poses are (x, y, heading)."""
import math
import torch


def wrap(a):
    return torch.atan2(torch.sin(a), torch.cos(a))


def between(pose_i, pose_j):
    """Pose j as seen from pose i."""
    d = pose_j[:, :2] - pose_i[:, :2]
    c, s = torch.cos(pose_i[:, 2]), torch.sin(pose_i[:, 2])
    return torch.stack([c * d[:, 0] + s * d[:, 1], -s * d[:, 0] + c * d[:, 1], wrap(pose_j[:, 2] - pose_i[:, 2])], dim=1)


def compose(pose, delta):
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return [pose[0] + c * delta[0] - s * delta[1], pose[1] + s * delta[0] + c * delta[1], pose[2] + delta[2]]


def drive(n=24, seed=0):
    """Two rounds on a circle: true poses, odometry edges and loop closures between the rounds."""
    gen = torch.Generator().manual_seed(seed)
    per_round = n // 2
    step = [2 * math.sin(math.pi / per_round), 0.0, 2 * math.pi / per_round]
    truth = [[0.0, 0.0, 0.0]]
    for _ in range(n - 1):
        truth.append(compose(truth[-1], step))
    truth = torch.tensor(truth)
    i = torch.arange(n - 1)
    edges = [torch.stack([i, i + 1], 1), torch.stack([torch.arange(0, n - per_round, 3), torch.arange(0, n - per_round, 3) + per_round], 1)]
    edges = torch.cat(edges)
    measured = between(truth[edges[:, 0]], truth[edges[:, 1]])
    sigma = torch.full((len(edges), 3), 0.03)
    measured = measured + sigma * torch.randn(measured.shape, generator=gen)
    weight = torch.where(torch.arange(len(edges)) < n - 1, 1.0, 4.0)
    return truth, edges, measured, weight


class PoseGraph(torch.nn.Module):
    def __init__(self, initial):
        super().__init__()
        self.register_buffer('origin', initial[0].clone())
        self.poses = torch.nn.Parameter(initial.clone())

    def forward(self, edges, measured):
        # gauge freedom: the first pose stays at the origin
        poses = torch.cat([self.origin[None], self.poses[1:]])
        error = between(poses[edges[:, 0]], poses[edges[:, 1]]) - measured
        return torch.cat([error[:, :2], wrap(error[:, 2:])], dim=1)


def dead_reckoning(edges, measured, n):
    poses = [[0.0, 0.0, 0.0]]
    for k in range(n - 1):
        poses.append(compose(poses[-1], measured[k].tolist()))
    return torch.tensor(poses)


def main():
    truth, edges, measured, weight = drive()
    initial = dead_reckoning(edges, measured, len(truth))
    graph = PoseGraph(initial)
    optimizer = torch.optim.Adam(graph.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 40, gamma=0.5)
    for it in range(100):
        residual = graph(edges, measured)
        # robust kernel, so that a wrong loop closure does not bend the whole track
        squared = residual.pow(2).sum(1)
        loss = (weight * squared / (1 + squared)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if it % 20 == 0:
            print(f'iteration {it:3d}  objective {loss.item():.6f}')
    solved = graph.poses.detach()[1:]
    before = (initial[1:, :2] - truth[1:, :2]).norm(dim=1).mean().item()
    after = (solved[:, :2] - truth[1:, :2]).norm(dim=1).mean().item()
    print(f'mean position error {before:.5f} -> {after:.5f}')


if __name__ == '__main__':
    main()
