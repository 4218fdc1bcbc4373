import torch
from field import Field
from renderer import OccupancyGrid, render

# 1-D toy of a radiance field: rays cross [0,1], samples are placed where the grid says there is something


def target(o):
    return 0.5 + 0.4 * torch.sin(6 * o)


def main():
    torch.manual_seed(2)
    field = Field()
    grid = OccupancyGrid(res=16)
    opt = torch.optim.Adam(field.parameters(), lr=1e-2, eps=1e-15)
    for step in range(16):
        if step % 4 == 0:
            grid.update(field)
        rays = torch.rand(64, 1)
        rgb, opacity = render(field, grid, rays, n=12)
        loss = ((rgb - target(rays)) ** 2).mean() + 1e-3 * (opacity ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(f'{step:3d} loss {loss.item():.6f} occ {float(grid.density.mean()):.5f}')
    with torch.no_grad():
        rgb, _ = render(field, grid, torch.linspace(0, 1, 7)[:, None], n=12)
    print(' '.join('%.4f' % v for v in rgb.squeeze(1).tolist()))


if __name__ == '__main__':
    main()
