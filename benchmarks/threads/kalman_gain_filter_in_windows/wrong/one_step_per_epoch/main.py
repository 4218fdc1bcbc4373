import torch

from model import KalmanNetNN, SystemModel
from pipeline import Pipeline_KF

if __name__ == '__main__':
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(7)
    ss = SystemModel()
    x_train, y_train = ss.generate(40, gen)
    x_test, y_test = ss.generate(20, gen)
    net = KalmanNetNN(ss)
    print('parameters', sum(p.numel() for p in net.parameters()))
    pipeline = Pipeline_KF(ss, net)
    pipeline.NNTrain(2, y_train, x_train)
    pipeline.NNTest(y_test, x_test)
