# Stimmungsanalyse mit vortrainierten Wortvektoren, die mit kleiner Lernrate feinabgestimmt werden
import torch
from torch.utils.data import DataLoader

from korpus import lade_vektoren, lade_saetze
from datensatz import SatzDatensatz
from modell import SatzKlassifikator

EPOCHEN = 4


def genauigkeit(modell, lader):
    modell.eval()
    richtig = n = 0
    with torch.no_grad():
        for x, y in lader:
            richtig += (modell(x).argmax(1) == y).sum().item()
            n += len(y)
    modell.train()
    return richtig / n


def main():
    torch.manual_seed(2)
    woerter, embedding = lade_vektoren()
    train, test = lade_saetze(woerter)
    train_ds, test_ds = SatzDatensatz(train, embedding), SatzDatensatz(test, embedding)
    train_lader = DataLoader(train_ds, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(0))
    test_lader = DataLoader(test_ds, batch_size=16)

    modell = SatzKlassifikator(embedding.embedding_dim)
    verlust_fn = torch.nn.CrossEntropyLoss()
    optimierer = torch.optim.Adam([
        {'params': modell.parameters(), 'lr': 5e-3},
        {'params': embedding.parameters(), 'lr': 1e-3},
    ])

    for epoche in range(EPOCHEN):
        summe = 0.0
        for x, y in train_lader:
            verlust = verlust_fn(modell(x), y)
            optimierer.zero_grad()
            verlust.backward(retain_graph=True)
            optimierer.step()
            summe += verlust.item()
        print('Epoche %d: Verlust %.6f, Test %.3f' % (epoche + 1, summe / len(train_lader), genauigkeit(modell, test_lader)))
    print('Norm der Wortvektoren %.6f' % embedding.weight.norm().item())


if __name__ == '__main__':
    main()
