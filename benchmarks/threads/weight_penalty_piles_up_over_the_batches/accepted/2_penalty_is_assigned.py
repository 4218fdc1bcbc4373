import torch, random
from torch import nn, optim
from torch.nn import functional as F

# sin + noise regression, tiny net with my own L1/L2 (want to see each term, so no weight_decay!)

SEED=7; random.seed(SEED); torch.manual_seed(SEED)
LR,EPOCHS,BS=0.02,4,32
reg_type="elastic"   # none | l1 | l2 | elastic
L1,L2=1e-3,5e-3

def make_data(n=192):
	x=torch.rand(n,1)*6-3; y=torch.sin(2*x)+.1*torch.randn(n,1)
	return x,y

class Net(nn.Module):
	def __init__(s,h=24):
		super().__init__()
		s.fc1=nn.Linear(1,h); s.fc2=nn.Linear(h,h); s.fc3=nn.Linear(h,1)
	def forward(s,x):
		x=torch.tanh(s.fc1(x)); x=torch.tanh(s.fc2(x))
		return s.fc3(x)

def penalty(net,kind):
	p=0.
	for name,w in net.named_parameters():
		if 'bias' in name: continue
		if kind in ("l1","elastic"): p=p+L1*w.abs().sum()
		if kind in ("l2","elastic"): p=p+L2*w.pow(2).sum()
	return p

class Meter:
	def __init__(s): s.reset()
	def reset(s): s.t=0.; s.n=0
	def add(s,v,k=1): s.t+=v*k; s.n+=k
	@property
	def avg(s): return s.t/max(s.n,1)

def batches(x,y,bs):
	idx=torch.randperm(len(x))
	for i in range(0,len(x),bs): j=idx[i:i+bs]; yield x[j],y[j]

X,Y=make_data(); Xv,Yv=make_data(64)
net=Net(); opt=optim.SGD(net.parameters(),lr=LR,momentum=.9)
mse=nn.MSELoss()
fit,regm=Meter(),Meter()

for ep in range(EPOCHS):
	net.train(); fit.reset(); regm.reset()
	reg=torch.tensor(0.)
	for xb,yb in batches(X,Y,BS):
		out=net(xb); data_loss=mse(out,yb)
		if reg_type!="none": reg=penalty(net,reg_type)
		loss=data_loss+reg
		opt.zero_grad(); loss.backward(); opt.step()
		fit.add(data_loss.item(),len(xb))
	net.eval()
	with torch.no_grad(): v=mse(net(Xv),Yv).item(); regm.add(float(penalty(net,reg_type)))
	if ep%1==0: print("ep %d | mse %.4f | reg %.4f | val %.4f"%(ep,fit.avg,regm.avg,v))

# how many weights are (almost) zero
small=sum((w.abs()<1e-2).sum().item() for n,w in net.named_parameters() if 'bias' not in n); total=sum(w.numel() for n,w in net.named_parameters() if 'bias' not in n)
print("small weights: %d of %d"%(small,total))
