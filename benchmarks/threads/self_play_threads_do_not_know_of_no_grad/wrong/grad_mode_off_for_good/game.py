import numpy as np

LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


class Game:
    """tic-tac-toe, board from the view of the player to move"""

    def __init__(self):
        self.board = np.zeros(9, np.float32)

    def legal(self):
        return self.board == 0

    def play(self, move):
        self.board[move] = 1
        won = bool((self.board[LINES].sum(1) == 3).any())
        done = won or not self.legal().any()
        self.board = -self.board
        return (1.0 if won else 0.0), done
