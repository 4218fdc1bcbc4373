import logging
import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import OrderedDict

logger = logging.getLogger('tracker')
MOMENTUM = 0.8          # EMA of appearance
TAU = 0.2


class AppearanceNet(nn.Module):
    def __init__(self, dim=12, num_ids=5):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 6, 3, 2, 1), nn.ReLU(inplace=True),
            nn.Conv2d(6, 8, 3, 2, 1), nn.ReLU(inplace=True),
            nn.Flatten(), nn.Linear(8 * 2 * 2, dim))
        self.id_head = nn.Linear(dim, num_ids)

    def forward(self, crops):
        return F.normalize(self.backbone(crops), dim=1)


class Track:
    def __init__(self, tid, feat):
        self.tid, self.feat, self.age = tid, feat, 0

    def update(self, feat):
        self.feat = feat.detach()
        self.age += 1


class Tracker:
    """appearance memory of all tracks of one clip"""

    def __init__(self):
        self.tracks = OrderedDict()

    def reset(self):
        self.tracks.clear()

    def similarity(self, feats):
        memory = torch.stack([t.feat for t in self.tracks.values()])
        return feats @ memory.t() / TAU

    def match_loss(self, feats, ids):
        known = list(self.tracks)
        rows = [k for k, i in enumerate(ids) if i in self.tracks]
        if not rows:
            return feats.new_zeros(())
        target = torch.tensor([known.index(ids[k]) for k in rows])
        return F.cross_entropy(self.similarity(feats[rows]), target)

    def update(self, feats, ids):
        for f, i in zip(feats, ids):
            if i in self.tracks:
                self.tracks[i].update(f)
            else:
                self.tracks[i] = Track(i, f.detach())


class Clip:
    """num_ids blobs, each with a texture of its own, seen for some frames"""

    def __init__(self, num_ids, frames, gen):
        self.base = torch.randn(num_ids, 1, 8, 8, generator=gen)
        self.frames, self.gen, self.num_ids = frames, gen, num_ids

    def __iter__(self):
        for f in range(self.frames):
            ids = [i for i in range(self.num_ids) if f == 0 or (i + f) % 4]
            noise = torch.randn(len(ids), 1, 8, 8, generator=self.gen)
            yield self.base[ids] + 0.4 * noise, ids


def train_clip(net, tracker, clip, opt, weight=0.5):
    tracker.reset()
    history = []
    for n, (crops, ids) in enumerate(clip):
        feats = net(crops)
        id_loss = F.cross_entropy(net.id_head(feats), torch.tensor(ids))
        match = tracker.match_loss(feats, ids)
        loss = id_loss + weight * match
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.update(feats, ids)
        logger.debug('frame %d, %d tracks', n, len(tracker.tracks))
        history.append((id_loss.item(), match.item()))
    return history


def main():
    torch.manual_seed(12)
    gen = torch.Generator().manual_seed(3)
    net, tracker = AppearanceNet(), Tracker()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(2):
        for a, b in train_clip(net, tracker, Clip(5, 6, gen), opt):
            print('%.6f %.6f' % (a, b))


main()
