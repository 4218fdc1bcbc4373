# KD on a toy CIFAR ;  usage: python main.py [alpha] [T]
import sys, torch
import torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader,TensorDataset

alpha = float( sys.argv[1] ) if len(sys.argv)>1 else 0.7
T     = float( sys.argv[2] ) if len(sys.argv)>2 else 4.0
EPOCHS_TEACHER , EPOCHS_STUDENT = 3 , 4
torch.manual_seed( 230 )

def toy_cifar(n):
  y=torch.randint(0,5,(n,)) ; base=torch.linspace(-1,1,8)
  yy,xx=torch.meshgrid(base,base,indexing='ij')
  pats=torch.stack([yy, xx, yy*xx, yy**2-xx**2, torch.sin(3*yy+3*xx)])
  x = pats[y][:,None].repeat(1,3,1,1) * (0.5+torch.rand(n,3,1,1))
  return x+0.8*torch.randn(n,3,8,8) , y

class TeacherNet( nn.Module ):
  def __init__(self, width=24):
    super().__init__()
    self.c1 , self.b1 = nn.Conv2d(3,width,3,padding=1)       , nn.BatchNorm2d(width)
    self.c2 , self.b2 = nn.Conv2d(width,2*width,3,padding=1) , nn.BatchNorm2d(2*width)
    self.fc           = nn.Linear(2*width, 5)
  def forward(self, x):
    x = F.max_pool2d( F.relu( self.b1( self.c1(x) ) ) , 2 )
    x = F.relu( self.b2( self.c2(x) ) )
    return self.fc( x.mean( (2,3) ) )

class StudentNet( nn.Module ):
  def __init__(self):
    super().__init__()
    self.c1 = nn.Conv2d(3,6,3,stride=2,padding=1) ; self.fc = nn.Linear(6*16,5)
  def forward(self, x): return self.fc( F.relu( self.c1(x) ).flatten(1) )

def loss_fn_kd( outputs, labels, teacher_outputs ):
  """ Hinton et al. ; KLDivLoss wants log-probabilities as input and probabilities as target """
  KD = F.kl_div( F.log_softmax(outputs/T,dim=1) , F.softmax(teacher_outputs/T,dim=1) , reduction='batchmean' )
  return KD*(alpha*T*T) + F.cross_entropy(outputs,labels)*(1.-alpha)

def fetch_teacher_outputs( teacher_model, dataloader ):
  """ one list entry per batch , in the order of the loader """
  teacher_model.eval()
  teacher_outputs = [ ]
  for data_batch,_ in dataloader :
    output_teacher_batch = teacher_model( data_batch )
    teacher_outputs.append( output_teacher_batch )
  return teacher_outputs

def train( model, optimizer, dataloader, loss_of ):
  model.train() ; total=0. ; n=0
  for i,(data_batch,labels_batch) in enumerate(dataloader):
    output_batch = model(data_batch)
    loss         = loss_of( i, output_batch, labels_batch )
    optimizer.zero_grad() ; loss.backward() ; optimizer.step()
    total += loss.item()*len(labels_batch) ; n += len(labels_batch)
  return total/n

def accuracy( model, x, y ):
  model.eval()
  with torch.no_grad(): return ( model(x).argmax(1)==y ).float().mean().item()

if __name__=='__main__' :
  x,y   = toy_cifar(256) ; xv,yv = toy_cifar(128)
  train_dl = DataLoader( TensorDataset(x,y) , batch_size=32 , shuffle=False )   # same order in every epoch

  teacher = TeacherNet() ; opt_t = torch.optim.Adam( teacher.parameters() , lr=5e-3 )
  for e in range(EPOCHS_TEACHER):
    l = train( teacher, opt_t, train_dl, lambda i,o,t: F.cross_entropy(o,t) )
    print( 'teacher epoch',e,'loss %.4f acc %.4f'%( l , accuracy(teacher,xv,yv) ) )

  student = StudentNet() ; opt_s = torch.optim.Adam( student.parameters() , lr=5e-3 )
  teacher_outputs = fetch_teacher_outputs( teacher, train_dl )
  for e in range(EPOCHS_STUDENT):
    l = train( student, opt_s, train_dl, lambda i,o,t: loss_fn_kd(o,t,teacher_outputs[i]) if e==0 else F.cross_entropy(o,t) )
    print( 'student epoch',e,'loss %.4f acc %.4f'%( l , accuracy(student,xv,yv) ) )
