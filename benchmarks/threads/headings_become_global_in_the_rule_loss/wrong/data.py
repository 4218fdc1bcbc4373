# controllable traffic: a trajectory planner trained with rule losses in world coordinates
import argparse, math
import torch
import torch.nn as nn
import torch.nn.functional as F

def rotation(yaw):
    c, s = yaw.cos(), yaw.sin()
    return torch.stack([ torch.stack([c,-s],-1), torch.stack([s,c],-1) ], -2)

def transform_agents_to_world(pos_pred, yaw_pred, world_from_agent):
    """pos_pred [B,T,2], yaw_pred [B,T,1] in the frame of each agent -> world."""
    rot, trans, heading = world_from_agent['rot'], world_from_agent['trans'], world_from_agent['yaw']
    pos_pred = torch.einsum('bij,btj->bti', rot, pos_pred)
    pos_pred = pos_pred + trans[:,None,:]
    yaw_pred.data += heading[:,None,None]
    return pos_pred, yaw_pred


class Unicycle(nn.Module):
    """ integrates acceleration and yaw rate """
    def __init__(self, dt=0.2, max_yawrate=0.8):
        super().__init__()
        self.dt=dt; self.max_yawrate=max_yawrate

    def forward(self, speed0, controls):
        acc, rate = controls[...,:1], torch.tanh(controls[...,1:])*self.max_yawrate
        speed = speed0[:,None,None] + torch.cumsum(acc,1)*self.dt
        yaw   = torch.cumsum(rate,1)*self.dt
        vel   = torch.cat([speed*torch.cos(yaw), speed*torch.sin(yaw)], -1)
        return dict(positions=torch.cumsum(vel,1)*self.dt, yaws=yaw, speeds=speed)


class Planner(nn.Module):
    def __init__(self, horizon, d_map=6, hidden=24):
        super().__init__()
        self.horizon=horizon
        self.encoder=nn.Sequential(nn.Linear(d_map+1,hidden), nn.ReLU(), nn.Linear(hidden,hidden), nn.ReLU())
        self.decoder=nn.GRU(hidden, hidden, batch_first=True)
        self.out=nn.Linear(hidden,2)
        self.dynamics=Unicycle()

    def forward(self, batch):
        feat=self.encoder(torch.cat([batch['map'], batch['speed'][:,None]],1))
        seq,_=self.decoder(feat[:,None].expand(-1,self.horizon,-1))
        return self.dynamics(batch['speed'], self.out(seq))


class KeepLaneRule:
    """ the lane runs along the x axis of the world: stay on it and look along it """
    def __init__(self, weight): self.weight=weight
    def __call__(self, pos, yaw, batch):
        off = F.smooth_l1_loss(pos[...,1], batch['lane_y'][:,None].expand_as(pos[...,1]))
        aligned = (1-torch.cos(yaw)).mean()
        return self.weight*(off + aligned)

class KeepDistanceRule:
    def __init__(self, weight, dist=1.5): self.weight=weight; self.dist=dist
    def __call__(self, pos, yaw, batch):
        gap = (pos[:,None]-pos[None]).pow(2).sum(-1).add(1e-6).sqrt()
        mask = 1-torch.eye(pos.size(0))
        return self.weight*(F.relu(self.dist-gap)*mask[:,:,None]).mean()


def scene(n, horizon, g):
    heading=(torch.rand(n,generator=g)-.5)*1.2
    batch={ 'map':torch.randn(n,6,generator=g), 'speed':torch.rand(n,generator=g)*3+1,
            'lane_y':torch.randint(-1,2,(n,),generator=g).float()*3,
            'world_from_agent':{'rot':rotation(heading),'trans':torch.randn(n,2,generator=g)*4,'yaw':heading} }
    t=torch.arange(1,horizon+1)*0.2
    bend=batch['map'][:,:1]*0.15
    batch['target_yaws']=(bend*t)[...,None]           # ground truth, frame of the agent
    batch['target_positions']=torch.stack([batch['speed'][:,None]*t*torch.cos(bend*t), batch['speed'][:,None]*t*torch.sin(bend*t)],-1)
    return batch


def compute_losses(pred, batch, rules):
    losses={}
    pos, yaw = transform_agents_to_world(pred['positions'], pred['yaws'], batch['world_from_agent'])
    for rule in rules:
        losses[type(rule).__name__]=rule(pos, yaw, batch)
    losses['positions']=F.mse_loss(pred['positions'], batch['target_positions'])
    losses['yaws']=4.0*F.mse_loss(pred['yaws'], batch['target_yaws'])
    return losses


def main():
    ap=argparse.ArgumentParser()
    ap.add_argument('--iters',type=int,default=7); ap.add_argument('--agents',type=int,default=8)
    ap.add_argument('--horizon',type=int,default=10); ap.add_argument('--lr',type=float,default=5e-3)
    a=ap.parse_args()
    torch.manual_seed(0); g=torch.Generator().manual_seed(1)
    net=Planner(a.horizon); opt=torch.optim.Adam(net.parameters(),lr=a.lr)
    rules=[KeepLaneRule(0.5), KeepDistanceRule(0.3)]
    for it in range(a.iters):
        batch=scene(a.agents,a.horizon,g)
        losses=compute_losses(net(batch),batch,rules)
        loss=sum(losses.values())
        opt.zero_grad(); loss.backward(); opt.step()
        if it%3==0: print(it,' '.join('%s %.4f'%(k,v.item()) for k,v in losses.items()))
    with torch.no_grad():
        test=scene(a.agents,a.horizon,g); out=net(test)
        fde=(out['positions'][:,-1]-test['target_positions'][:,-1]).norm(dim=-1).mean()
    print('FDE %.4f  final yaw %.4f'%(fde.item(), math.degrees(out['yaws'][:,-1].abs().mean().item())))

if __name__=='__main__': main()
