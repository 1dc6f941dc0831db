"""Groups that carry the promise of `respond`: cohesions of the graph of the yes-answers (GUARANTEE.md#rough-groups)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, Unpack

from pcneo.annotate import Keeping, WriteResult
from pcneo.annotate.plan import Asked, Plan, make_plan
from pcneo.annotate.supply import WholeGraph
from pcneo.annotate.writing import update_runs
from pcneo.basics.model import AnyPath
from pcneo.basics.searches import DEFAULT_P
from pcneo.counting.answers import AnsweredPairs
from pcneo.errors import ParameterError
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.randomised_response import Flips, Yes, check_epsilon, threshold_of
from pcneo.release.answer_sets import find_answers
from pcneo.release.answers_file import AnswersFile
from pcneo.store.database import Database
from pcneo.store.ledger import list_ledger
from pcneo.store.ledger_records import ReleaseRecord


@dataclass(frozen=True)
class RoughGroups:
    """Runs of the cohesions of yes-answers.

    Attributes:
        written: the runs.
        rough: how far the yes-answers are from the graph, according to public numbers.
    """

    written: WriteResult
    rough: str


def annotate_answers(db: Database, *, answers_from: AnyPath, **asked: Unpack[Asked]) -> RoughGroups:
    """Store the minimal p-cohesions of yes-answers whose ends share enough yes-neighbours, as a separate kind of run.

    They follow only from the answers, carry the promise of `respond` and cost nothing more. No release rests on them,
    and they are never taken for runs of the graph.
    """
    if asked.get("p") is None:
        asked["p"] = DEFAULT_P
    file = AnswersFile.open(answers_from)
    if file.mechanism != Respond.name:  # no other answers are about all pairs of vertices
        raise ParameterError(
            f"Rough groups need answers of {Respond.name}; those in {file.path} are of {file.mechanism}.",
            name="answers_from",
            value=str(file.path),
        )
    check_epsilon(file.epsilon)
    known = list_ledger(db).releases
    if asked.get("graph") is None and not asked.get("selection"):
        asked["graph"] = file.graph_of(known)
    plan = make_plan(db, "write", **asked)
    answered = AnsweredGraph(plan, file, known)
    written = update_runs(plan, Keeping(), supply=answered)
    return RoughGroups(written, answered.rough)


class AnsweredGraph(WholeGraph):
    """The yes-answers whose ends share enough yes-neighbours, as a graph on the vertices that the graph has now.

    Attributes:
        rough: how far the yes-answers are from the graph.
    """

    scope = "answers"

    def __init__(self, plan: Plan, file: AnswersFile, known: Sequence[ReleaseRecord]) -> None:
        """Begin with nothing read but the head of the answers."""
        super().__init__(plan)
        self._file = file
        self._known = known
        self.rough = ""

    def read(self) -> Self:
        """Read which vertices there are, then the answers."""
        super().read()
        file, keys, below = self._file, self.graph.keys, threshold_of(self._file.epsilon)
        record, answers = find_answers(self._plan.configuration.get("graph", ""), keys, below, file, self._known)
        self.answers = str(record.answers_hash)[:8]
        yes = Yes(Flips(len(keys), below), answers.yes_count)
        # [rough-refused] From public numbers, before anything is searched or stored.
        if yes.is_hopeless:
            flips, true = yes.flips.f * yes.flips.pairs, max(yes.connections, 0)
            raise ParameterError(
                f"Groups from these answers would mean nothing: of the {yes.count:,} yes-answers in {file.path}, about "
                f"{flips:,.0f} are flips, while the graph has about {true:,.0f} connections.",
                name="answers_from",
                value=str(file.path),
            )
        # [rough-from-answers] From here on the graph itself is not looked at.
        near = answers.sharing(yes.flips.usual_shared)
        self.graph = near.as_graph(keys)
        self.rough = _rough(yes, near)
        return self


def _rough(yes: Yes, near: AnsweredPairs) -> str:
    flips, no = yes.flips, 100 * yes.flips.f
    return (
        f"These groups are rough. About {yes.share_true:.0f} % of the {yes.count:,} yes-answers are connections, and "
        f"{no:.2g} % of all connections were answered no. Groups are those of the {near.yes_count:,} yes-answers whose "
        f"ends share {flips.usual_shared:,} yes-neighbours or more. They carry the promise of respond."
    )
