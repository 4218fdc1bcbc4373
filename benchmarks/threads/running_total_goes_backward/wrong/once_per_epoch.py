import torch,torch.nn as nn,torch.nn.functional as F
import numpy as np

# --- hourly load forecasting, seq2one GRU ------------------------------------------------
class Net(nn.Module):
    def __init__(s,n_in=2,h=16):
        super().__init__()
        s.gru=nn.GRU(n_in,h,batch_first=True); s.bn=nn.LayerNorm(h); s.out=nn.Linear(h,1)
    def forward(s,x):
        o,_=s.gru(x)
        return s.out(s.bn(o[:,-1])).squeeze(-1)

def series(n=260):
    t=np.arange(n)
    y=np.sin(2*np.pi*t/24)+.4*np.sin(2*np.pi*t/168)+.1*np.random.RandomState(0).randn(n)
    return np.stack([y,np.cos(2*np.pi*t/24)],1).astype('float32')

def windows(a,w):
    X=np.stack([a[i:i+w] for i in range(len(a)-w)]); Y=a[w:,0]
    return torch.from_numpy(X),torch.from_numpy(Y)

def loader(X,Y,bs,shuffle=True):
    idx=torch.randperm(len(X)) if shuffle else torch.arange(len(X))
    for i in range(0,len(X),bs):
        j=idx[i:i+bs]
        yield X[j],Y[j]

def train(net,X,Y,epochs=3,bs=48):
    n_batches=(len(X)+bs-1)//bs
    opt=torch.optim.Adam(net.parameters(),lr=1e-3)
    sched=torch.optim.lr_scheduler.OneCycleLR(opt,max_lr=2e-2,total_steps=epochs*n_batches)
    for ep in range(epochs):
        net.train()
        loss_total=0
        opt.zero_grad()
        for x,y in loader(X,Y,bs):
            loss=F.smooth_l1_loss(net(x),y)
            loss_total=loss_total+loss
            sched.step()
        loss_total.backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            val=sum(F.l1_loss(net(x),y,reduction='sum') for x,y in loader(Xv,Yv,bs,False))/len(Xv)
        print('ep %d  train %.5f  val mae %.5f  lr %.6f'%(ep,float(loss_total)/n_batches,float(val),sched.get_last_lr()[0]))

if __name__=='__main__':
    torch.manual_seed(9)
    a=series(); X,Y=windows(a[:200],12); Xv,Yv=windows(a[188:],12)
    train(Net(),X,Y)
