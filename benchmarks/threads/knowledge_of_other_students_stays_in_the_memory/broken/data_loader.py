import numpy as np


class DATA(object):
    """Students who answer exercises; a skill grows a little each time it is practised."""

    def __init__(self, n_question, seqlen, n_skill=3):
        self.n_question = n_question
        self.seqlen = seqlen
        self.n_skill = n_skill

    def simulate(self, n_student, seed):
        rng = np.random.RandomState(seed)
        difficulty = np.random.RandomState(0).normal(0, 1, self.n_question)
        q_data = np.zeros((n_student, self.seqlen), dtype=np.int64)
        qa_data = np.zeros((n_student, self.seqlen), dtype=np.int64)
        for s in range(n_student):
            ability = rng.normal(-0.3, 1.0, self.n_skill)
            for t in range(self.seqlen):
                q = rng.randint(self.n_question)
                k = q % self.n_skill
                p = 1 / (1 + np.exp(-2 * (ability[k] - difficulty[q])))
                right = int(rng.rand() < p)
                q_data[s, t] = q + 1
                qa_data[s, t] = q + 1 + right * self.n_question
                ability[k] += 0.25
        return q_data, qa_data
