"""The kinds of clients: each is a file, and a name here."""

from __future__ import annotations

from tests.simulation.actors.admin import Admin
from tests.simulation.actors.classic_member import ClassicMember
from tests.simulation.actors.client import Client
from tests.simulation.actors.committer import Committer
from tests.simulation.actors.consumer import Consumer
from tests.simulation.actors.consumer_member import ConsumerMember
from tests.simulation.actors.deleter import Deleter
from tests.simulation.actors.producer import Producer
from tests.simulation.actors.searcher import Searcher
from tests.simulation.actors.seeker import Seeker
from tests.simulation.actors.transactional_producer import TransactionalProducer

KINDS: tuple[type[Client], ...] = (
    *(Admin, Producer, Consumer, Searcher, Seeker),
    *(Committer, ClassicMember, ConsumerMember),
    *(Deleter, TransactionalProducer),
)
