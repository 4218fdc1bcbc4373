import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_

# pedestrian trajectories: 8 observed frames -> 6 predicted frames
OBS_LEN = 8
PRED_LEN = 6
BATCH_SIZE = 16
N_EPOCHS = 4


def synthetic_pedestrians(n, rng):
    """walkers with a slowly turning heading, in metres"""
    T = OBS_LEN + PRED_LEN
    start = rng.uniform(-4, 4, size=(n, 1, 2))
    heading = rng.uniform(0, 2 * np.pi, size=(n, 1)) + np.cumsum(rng.normal(0.04, 0.03, size=(n, T)), axis=1)
    speed = rng.uniform(0.2, 0.5, size=(n, 1))
    steps = np.stack([np.cos(heading) * speed, np.sin(heading) * speed], axis=-1)
    xy = start + np.cumsum(steps, axis=1)
    return (xy - xy[:, OBS_LEN - 1:OBS_LEN]).astype(np.float32)


class Encoder(nn.Module):
    def __init__(self, embedding_dim, h_dim):
        super(Encoder, self).__init__()
        self.spatial_embedding = nn.Linear(2, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, h_dim, batch_first=True)

    def forward(self, obs_traj):
        _, (h, c) = self.lstm(F.relu(self.spatial_embedding(obs_traj)))
        return h[0], c[0]


class Decoder(nn.Module):
    def __init__(self, embedding_dim, h_dim):
        super(Decoder, self).__init__()
        self.spatial_embedding = nn.Linear(2, embedding_dim)
        self.cell = nn.LSTMCell(embedding_dim, h_dim)
        self.hidden2pos = nn.Linear(h_dim, 2)

    def forward(self, last_pos, state):
        batch = last_pos.size(0)
        outputs = torch.zeros(batch, PRED_LEN + 1, 2)
        outputs[:, 0] = last_pos
        h, c = state
        for t in range(PRED_LEN):
            cur_pos = outputs[:, t]
            emb = F.relu(self.spatial_embedding(cur_pos))
            h, c = self.cell(emb, (h, c))
            rel_pos = self.hidden2pos(h)
            outputs[:, t + 1] = cur_pos + rel_pos
        return outputs[:, 1:]


class TrajectoryPredictor(nn.Module):
    def __init__(self, embedding_dim=16, h_dim=24):
        super(TrajectoryPredictor, self).__init__()
        self.encoder = Encoder(embedding_dim, h_dim)
        self.decoder = Decoder(embedding_dim, h_dim)

    def forward(self, obs_traj):
        state = self.encoder(obs_traj)
        return self.decoder(obs_traj[:, -1], state)


def displacement_error(pred, target):
    return torch.norm(pred - target, dim=-1).mean()


def final_displacement_error(pred, target):
    return torch.norm(pred[:, -1] - target[:, -1], dim=-1).mean()


def run_epoch(model, data, optimizer=None):
    order = torch.randperm(len(data)) if optimizer is not None else torch.arange(len(data))
    losses, ades, fdes = [], [], []
    for i in range(0, len(order), BATCH_SIZE):
        batch = data[order[i:i + BATCH_SIZE]]
        obs, gt = batch[:, :OBS_LEN], batch[:, OBS_LEN:]
        pred = model(obs)
        loss = F.mse_loss(pred, gt)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
        losses.append(loss.item())
        ades.append(displacement_error(pred, gt).item())
        fdes.append(final_displacement_error(pred, gt).item())
    return np.mean(losses), np.mean(ades), np.mean(fdes)


def main():
    torch.manual_seed(72)
    rng = np.random.RandomState(72)
    train = torch.from_numpy(synthetic_pedestrians(96, rng))
    val = torch.from_numpy(synthetic_pedestrians(32, rng))

    model = TrajectoryPredictor()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(N_EPOCHS):
        model.train()
        loss, ade, fde = run_epoch(model, train, optimizer)
        model.eval()
        with torch.no_grad():
            _, val_ade, val_fde = run_epoch(model, val)
        print('[%d] loss %.4f  ADE %.4f  FDE %.4f  | val ADE %.4f  FDE %.4f' % (epoch, loss, ade, fde, val_ade, val_fde))


if __name__ == '__main__':
    main()
