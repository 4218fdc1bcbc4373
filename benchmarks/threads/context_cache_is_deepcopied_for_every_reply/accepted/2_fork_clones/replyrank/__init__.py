from .lm import ReplyLM
from .tickets import TicketSet
from .ranker import ReplyRanker
