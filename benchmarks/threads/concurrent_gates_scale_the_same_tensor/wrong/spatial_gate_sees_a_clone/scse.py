from torch import nn


class ChannelSE(nn.Module):
    def __init__(self, ch, re=4):
        super().__init__()
        self.fc = nn.Sequential(
            nn.Linear(ch, max(1, ch // re)),
            nn.ReLU(inplace=True),
            nn.Linear(max(1, ch // re), ch),
            nn.Sigmoid(),
        )

    def forward(self, x):
        b, c = x.shape[:2]
        return self.fc(x.mean(dim=(2, 3))).view(b, c, 1, 1)


class SpatialSE(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv = nn.Conv2d(ch, 1, 1)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        return self.sigmoid(self.conv(x))


class SCSEBlock(nn.Module):
    """
    Concurrent spatial and channel squeeze & excitation (Roy et al.):
    U_scSE = U * cSE(U) + U * sSE(U), las dos ramas miran la misma U.
    """

    def __init__(self, ch, re=4):
        super().__init__()
        self.cSE = ChannelSE(ch, re)
        self.sSE = SpatialSE(ch)

    def forward(self, x):
        # rama de canales
        chn = x
        chn *= self.cSE(x)
        # rama espacial
        spa = x
        spa *= self.sSE(x.clone())
        return chn + spa
