import torch

from gretriever import GraphPromptLM, Trainer, toy_questions

if __name__ == '__main__':
    torch.manual_seed(9996)
    model = GraphPromptLM(vocab=13, dim=16, n_node_feat=4)
    trainer = Trainer(model, lr=1e-2)
    for epoch in range(4):
        losses = [trainer.step(*toy_questions(10)) for _ in range(2)]
        print(f'epoch {epoch} ' + ' '.join(f'{l:.5f}' for l in losses) + f' |proj| {model.projector[2].weight.norm().item():.5f}')
