"""Hidden Markov decision trees: what is fitted, as a small frozen description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from ..data.matrix import LinearSchema
from ..errors import InputError
from ..hme.calibration import Calibration
from ..hme.data.inputs import Inputs
from ..hme.data.outputs import Outputs, expert_for
from ..hme.model import HME
from ..hme.model import RIDGE as RIDGE_WITHOUT_MEMORY
from ..hme.tree.splits import Splits
from ..mcmc.contract import Model
from ..validation import require_whole, unknown_choice
from .data.design import SequenceDesign, require_sequences
from .data.sequences import Sequences
from .tree.inference import is_exact
from .tree.layout import MarkovLayout

if TYPE_CHECKING:
    from ..diagnostics.comparison import Rows
    from ..mcmc.settings import RunSettings
    from .posterior import HMDTPosterior

INITS = ("stretches", "cart", "random")
# The penalty where none is given.
RIDGE = RIDGE_WITHOUT_MEMORY | {"classification": 1.0}
# What a mixture of experts without memory has, too.
SHARED = ("depth", "branching", "expert", "ridge", "epochs", "tol", "n_init", "calibration")


@dataclass(frozen=True)
class HMDT(Model["HMDTPosterior", NoReturn]):
    """A hidden Markov decision tree: a mixture of experts whose gates remember what they decided one row before [1]_.

    It is fitted by EM, whose E step is the forward–backward algorithm over the joint states of all nodes, or a
    structured mean field that bounds the likelihood (ELBO).

    Parameters
    ----------
    depth, branching : int
        Levels of gates, at least one, and children of each.
    expert : {"auto", "linear", "constant", "poisson", "gamma", "logistic", "multinomial"}
        The models at the leaves; by itself linear ones for numbers and multinomial ones for classes.
    method : {"auto", "exact", "mean_field"}
        How sums over decisions are taken: exactly over the joint states of all nodes, of which there may be at most
        4,096, or by a chain for each node, fitted to those of the others, which gives a lower bound of the likelihood.
        By itself the exact one where it can be.
    init : {"stretches", "cart", "random"} or a decision tree
        Where EM begins: with experts that were each fitted to a short stretch of time; with the gates of a decision
        tree, made soft; or with random ones. A tree may be given as for `HME`.
    ridge : float or "auto"
        The penalty on coefficients of columns in standard units, and on the terms of the transitions; by itself 0.1 for
        numbers and 1 for classes.
    epochs : int
        The most passes over the rows.
    tol : float
        EM ends when an epoch gains less than this a row.
    n_init : int
        How many random trees to begin at; the best end counts.

    References
    ----------
    .. [1] Jordan, Ghahramani and Saul (1997), Hidden Markov decision trees, NIPS 9.
    """

    depth: int = 2
    branching: int = 2
    expert: str = "auto"
    method: str = "auto"
    init: Any = "stretches"
    ridge: float | str = "auto"
    epochs: int = 200
    tol: float = 1e-5
    n_init: int = 5
    calibration: Calibration | None = None

    family = "hmdt"
    tempers = False

    def __post_init__(self) -> None:
        require_whole("depth", self.depth, 1)
        if isinstance(self.init, str) and self.init not in INITS:
            raise unknown_choice("init", self.init, (*INITS, "a decision tree"))
        checked = self.without_memory
        for name in SHARED:
            object.__setattr__(self, name, getattr(checked, name))
        if not isinstance(self.init, str):
            object.__setattr__(self, "init", checked.init)
        is_exact(self.method, self.depth, self.branching)

    @property
    def without_memory(self) -> HME:
        """The mixture of experts of the same shape, which has the same units."""
        init = "random" if self.by_stretches else self.init
        return HME(**{name: getattr(self, name) for name in SHARED}, init=init)

    @property
    def by_stretches(self) -> bool:
        """Whether EM begins with experts, each from a stretch of time, and not with gates."""
        return isinstance(self.init, str) and self.init == "stretches"

    @property
    def exact(self) -> bool:
        """Whether sums over decisions are exact."""
        return is_exact(self.method, self.depth, self.branching)

    require = staticmethod(require_sequences)

    def resolve(self, design: SequenceDesign) -> HMDT:
        """The model with everything that was left open chosen for this design."""
        require_sequences(design)
        task, seen_rows = design.response.task, design.seen_rows
        expert = expert_for(self.expert, task)
        units = Inputs.of(design.table), Outputs.of(seen_rows, expert), seen_rows.y.ndim == 1
        return replace(
            self,
            expert=expert,
            method="exact" if self.exact else "mean_field",
            ridge=RIDGE[task] if self.ridge == "auto" else self.ridge,
            calibration=self.calibration or Calibration.of(*units),
        )

    @property
    def calibrated(self) -> Calibration:
        """What was taken from the data."""
        return self.without_memory.calibrated

    def inputs(self, schema: LinearSchema) -> Inputs:
        """How rows become inputs."""
        return self.calibrated.inputs(schema)

    @property
    def outputs(self) -> Outputs:
        """How responses become outputs."""
        return self.calibrated.outputs

    @property
    def layout(self) -> MarkovLayout:
        """Where the parameters of a tree lie."""
        of_mixture = self.without_memory.layout
        return MarkovLayout(**vars(of_mixture))

    def sequences(self, design: SequenceDesign) -> Sequences:
        """The rows of a design as inputs and outputs."""
        inputs = self.inputs(design.schema).of_matrix(design.matrix)
        return Sequences(inputs, self.outputs.matrix(design.table), design.seen, design.begin)

    def warnings(self, design: SequenceDesign) -> list[str]:
        """What a person should know before the fit."""
        return self.without_memory.warnings(design.table)

    def describe(self, schema: LinearSchema) -> str:
        """What the tree is made of and what is assumed of it, in a sentence."""
        plain = self.without_memory.describe(schema).replace("a soft tree", "a hidden Markov decision tree")
        return f"{plain}; each node remembers its last decision"

    # ---- what a run asks of a model -------------------------------------------------------------------------------

    def _no_chains(self, *_: Any, **__: Any) -> NoReturn:
        """EM has no chains."""
        raise InputError("a hidden Markov decision tree is fitted by EM and has no chains; sample it anew")

    chains = take = state_of = restore = _no_chains

    def without_chains(
        self, design: SequenceDesign, settings: RunSettings, monitored: Rows, threads: int
    ) -> HMDTPosterior:
        """The one tree that EM finds."""
        from .without_chains import fit_posterior

        return fit_posterior(self, design, settings, monitored, threads)

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON-safe values; it must be resolved."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        init = self.init.to_dict() if isinstance(self.init, Splits) else self.init
        return {"family": self.family, **plain, "init": init, "calibration": self.calibrated.to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> HMDT:
        """The model that `to_dict` described."""
        fields = {name: value for name, value in record.items() if name != "family"}
        init = fields["init"] if isinstance(fields["init"], str) else Splits.from_dict(fields["init"])
        return cls(**fields | {"init": init, "calibration": Calibration.from_dict(fields["calibration"])})
