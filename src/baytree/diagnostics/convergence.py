"""Whether chains agree: the figures that tell, what they come to in words, and what to try where they do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import notebook
from ..mcmc.effort import AUTO, PROCESSORS, UNLIMITED, budget_of, more_than
from ..mcmc.settings import RunSettings
from ..text import counted, duration, listed

# Beyond this R-hat the chains disagree (Vehtari et al. 2021).
RHAT_LIMIT = 1.01
# Beyond this one the chains disagree even where it is the largest of hundreds; see `PredictionDiagnostic`.
LARGEST_RHAT_LIMIT = 1.05
# Up to this one the chains are near each other.
NEAR_RHAT = 1.1
# Up to these ones, of 19 in 20 rows and of the worst, predictions are: they differ by a third of their sd at most.
NEAR_PREDICTIONS, NEAR_WORST = 1.05, 1.2
# The effective draws of each chain without which R-hat itself is too noisy (Vehtari et al. 2021).
ESS_PER_CHAIN = 100
# What part of the wanted effective draws is enough for decisions.
NEAR_SIZE = 0.1
# Draws of which this share is effective are as good as independent: more of them help, and longer chains do not.
INDEPENDENT = 0.7
# What is advised of one chain.
CHAINS = 4

Grade = Literal["agree", "nearly", "not yet"]
GRADES = {"agree": "the chains agree", "nearly": "the chains nearly agree", "not yet": "the chains do not agree yet"}


@dataclass(frozen=True)
class Diagnostic:
    """How well the chains know one quantity.

    Attributes
    ----------
    quantity : str
        Its name.
    mean, sd : float
        Over the draws looked at.
    rhat : float or None
        Rank-normalised split R-hat [1]_; near 1 when the chains agree. None where it is not defined: for one chain,
        fewer than four draws, or a quantity that never changes.
    ess_bulk, ess_tail : float or None
        Effective sample sizes for the middle and for the tails.

    References
    ----------
    .. [1] Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16, 667–718.
    """

    quantity: str
    mean: float
    sd: float
    rhat: float | None
    ess_bulk: float | None
    ess_tail: float | None

    @property
    def agrees(self) -> bool:
        """Whether R-hat is near 1."""
        return self.rhat is not None and self.rhat < RHAT_LIMIT

    @property
    def nearly_agrees(self) -> bool:
        """Whether R-hat says that the chains are near each other."""
        return self.rhat is not None and self.rhat < NEAR_RHAT

    @property
    def rhat_text(self) -> str:
        """R-hat as people read it."""
        return _rhat_text(self.rhat)


@dataclass(frozen=True)
class PredictionDiagnostic:
    """How well the chains know what the trees predict at some rows.

    Of each row and draw the leaf's mean counts, of classes the probabilities of all but the last; a row has the largest
    R-hat and the smallest effective sizes of its classes, and one whose prediction never changes has R-hat 1.

    The largest of hundreds of noisy figures is off by chance. So the chains agree if 19 in 20 rows have an R-hat
    below 1.01 and every row has one below 1.05. With m half chains and an effective size S in all, R-hat² − 1 of
    chains that agree is about χ²(m − 1) / (m − 1) · m / S: of four chains with S = 400 it reaches 1.05 with probability
    10⁻⁵. Where 19 in 20 rows do not have an R-hat below 1.1, effective sizes, which then cost most and say least, are
    those of the tenth of the rows with the largest R-hat; the others' are taken to be larger.

    Attributes
    ----------
    rows, draws : int
        How many distinct rows, and draws of each chain, were looked at.
    rhat, ess_bulk, ess_tail : float or None
        What 19 in 20 rows have at most, or of the sizes at least.
    largest_rhat, smallest_ess_bulk, smallest_ess_tail : float or None
        Those of the worst row.
    worst_row : int or None
        The row with the largest R-hat, counted from 0.
    between_chain_sd : float or None
        The standard deviation over chains of a chain's mean prediction, averaged over rows (and classes).
    sd : float or None
        That of all draws, averaged likewise: the uncertainty of the predictions themselves. None in older files.
    """

    rows: int
    draws: int
    rhat: float | None
    ess_bulk: float | None
    ess_tail: float | None
    largest_rhat: float | None
    smallest_ess_bulk: float | None
    smallest_ess_tail: float | None
    worst_row: int | None
    between_chain_sd: float | None
    sd: float | None = None

    @property
    def quantity(self) -> str:
        """The name of what is monitored."""
        return "predictions"

    @property
    def agrees(self) -> bool:
        """Whether R-hat is near 1 at nearly all rows and far from it at none."""
        if self.rhat is None or self.largest_rhat is None:
            return False
        return self.rhat < RHAT_LIMIT and self.largest_rhat < LARGEST_RHAT_LIMIT

    @property
    def nearly_agrees(self) -> bool:
        """Whether the chains are near enough for decisions."""
        if self.rhat is None or self.largest_rhat is None:
            return False
        return self.rhat < NEAR_PREDICTIONS and self.largest_rhat < NEAR_WORST

    @property
    def share(self) -> float | None:
        """How far the chains' means are apart, as a share of the uncertainty of the predictions themselves."""
        return self.between_chain_sd / self.sd if self.between_chain_sd is not None and self.sd else None

    @property
    def rhat_text(self) -> str:
        """R-hat as people read it: of 19 in 20 rows, or of the worst where that is what tells the chains apart."""
        worst = self.rhat is not None and self.rhat < RHAT_LIMIT and not self.agrees
        return _rhat_text(self.largest_rhat if worst else self.rhat)


@dataclass(frozen=True)
class SplitDiagnostic:
    """How far the chains differ in how often they make a split.

    Every edge of a tree splits the rows in two: those below it, and the rest. As phylogenetics does with trees over
    species [1]_, each split has a frequency in each chain, and the standard deviations of these over the chains are
    averaged over all splits that have a frequency of 0.1 or more in some chain. Splits by different questions, or by
    the same ones in another order, are the same if they separate the same rows.

    Attributes
    ----------
    splits : int
        How many splits count.
    average_sd, largest_sd : float or None
        The average standard deviation of split frequencies (ASDSF), and the largest one.

    References
    ----------
    .. [1] Lakner, van der Mark, Huelsenbeck, Larget and Ronquist (2008), Systematic Biology 57, 86–103.
    """

    splits: int
    average_sd: float | None
    largest_sd: float | None


Quantity = Diagnostic | PredictionDiagnostic


@dataclass(frozen=True, repr=False)
class Diagnostics:
    """What tells whether the chains of a posterior agree.

    Attributes
    ----------
    chains, draws : int
        The size of the posterior.
    log_likelihood, leaves : Diagnostic
        Of the log-likelihood and of the size of a draw: the number of leaves or, of a linear model, of columns; of a
        mixture of experts, whose trees have one size, of the log prior.
    predictions : PredictionDiagnostic or None
        Of the predictions; None where no rows were at hand.
    splits : SplitDiagnostic or None
        Of the splits of these rows.
    shared_trees : float or None
        The share of the draws whose tree every chain visits; None of sums of trees.
    sigma : Diagnostic or None
        Of the standard deviation of the noise, where there is one.
    """

    chains: int
    draws: int
    log_likelihood: Diagnostic
    leaves: Diagnostic
    predictions: PredictionDiagnostic | None
    splits: SplitDiagnostic | None
    shared_trees: float | None
    sigma: Diagnostic | None = None

    def __repr__(self) -> str:
        size = f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')}"
        return f"<Diagnostics: {size}; {GRADES[self.grade]}>"

    def __str__(self) -> str:
        return "\n".join([*self.table(), *self.warnings()])

    def _repr_html_(self) -> str:
        said = notebook.verdict(self.grade, GRADES[self.grade])
        return notebook.boxed(said, notebook.preformatted(self))

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All that has an R-hat, the predictions first if they are known."""
        known = () if self.predictions is None else (self.predictions,)
        noise = () if self.sigma is None else (self.sigma,)
        return (*known, self.log_likelihood, self.leaves, *noise)

    @property
    def wanted_ess(self) -> int:
        """The smallest effective sample size that is enough."""
        return ESS_PER_CHAIN * self.chains

    @property
    def judged(self) -> list[Quantity]:
        """The quantities that have an R-hat; none where neither the likelihood nor the size of a tree ever changes."""
        if self.log_likelihood.rhat is None and self.leaves.rhat is None:
            return []
        return [quantity for quantity in self.quantities if quantity.rhat is not None]

    @property
    def apart(self) -> list[Quantity]:
        """The quantities that the chains do not agree on, worst first."""
        return sorted((one for one in self.judged if not one.agrees), key=lambda one: -(one.rhat or 0))

    @property
    def scarce(self) -> list[tuple[Quantity, float]]:
        """The quantities with too small an effective sample size, and that size, smallest first."""
        sizes = ((one, min(one.ess_bulk or 0, one.ess_tail or 0)) for one in self.judged)
        return sorted(((one, size) for one, size in sizes if size < self.wanted_ess), key=lambda pair: pair[1])

    @property
    def agree(self) -> bool:
        """Whether the chains agree on all that was looked at, by enough draws to say so."""
        return bool(self.judged) and not self.apart and not self.scarce

    @property
    def grade(self) -> Grade:
        """In three grades: ``"nearly"`` is good enough for decisions, and not for the third digit."""
        if self.agree:
            return "agree"
        known = all(size >= NEAR_SIZE * self.wanted_ess for _, size in self.scarce)
        near = self.judged and known and all(one.nearly_agrees for one in self.judged)
        return "nearly" if near else "not yet"

    @property
    def is_enough(self) -> bool:
        """Whether longer chains would tell no more: they agree, or their draws are as good as independent."""
        of_all = INDEPENDENT * self.chains * self.draws
        return self.agree or all(one.nearly_agrees and (one.ess_bulk or 0) >= of_all for one in self.judged)

    def table(self) -> list[str]:
        """The quantities that were compared, as lines of a table."""
        lines = [f"{'':<16}{'mean':>10}{'sd':>9}{'R-hat':>8}{'ESS':>8}"]
        for one in self.quantities:
            moments = f"{one.mean:>10.2f}{one.sd:>9.2f}" if isinstance(one, Diagnostic) else " " * 19
            ess = "–" if one.ess_bulk is None else f"{one.ess_bulk:.0f}"
            lines.append(f"{one.quantity:<16}{moments}{one.rhat_text:>8}{ess:>8}")
        return lines

    def warnings(self) -> list[str]:
        """What no R-hat tells, in sentences."""
        lines = []
        if self.predictions is not None and self.predictions.between_chain_sd is not None:
            found = self.predictions
            worst = "" if found.worst_row is None else f"; the worst is row {found.worst_row}, with "
            lines.append(
                f"Predictions: 19 in 20 of {counted(found.rows, 'row')} have at most that R-hat{worst}"
                f"{_rhat_text(found.largest_rhat) if worst else ''}; the chains' means differ by "
                f"{found.between_chain_sd:.2g} (sd)."
            )
        if self.splits is not None and self.splits.average_sd is not None:
            lines.append(
                f"Splits of the rows: frequencies differ by {self.splits.average_sd:.2g} between chains (average sd of "
                f"{counted(self.splits.splits, 'split')}), at most by {self.splits.largest_sd:.2g}."
            )
        if self.chains > 1 and self.shared_trees is not None:
            lines.append(f"Trees that all chains visit hold {self.shared_trees:.0%} of the draws.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Diagnostics:
        """The figures that `to_dict` described; raises ValueError where they are none."""
        optional = {"predictions": PredictionDiagnostic, "splits": SplitDiagnostic, "sigma": Diagnostic}
        return cls(
            chains=_figure("int", record["chains"]),
            draws=_figure("int", record["draws"]),
            log_likelihood=_read(Diagnostic, record["log_likelihood"]),
            leaves=_read(Diagnostic, record["leaves"]),
            shared_trees=_figure("float | None", record["shared_trees"]),
            **{name: _read(kind, record[name]) if record.get(name) else None for name, kind in optional.items()},
        )


def _read(kind: Any, record: Mapping[str, Any]) -> Any:
    """A dataclass of figures from what `asdict` made of it; older ones lack what has a default."""
    there = [field for field in fields(kind) if field.default is MISSING or field.name in record]
    return kind(**{field.name: _figure(str(field.type), record[field.name]) for field in there})


def _figure(type_name: str, value: Any) -> Any:
    if type_name == "str":
        return str(value)
    if value is None and type_name.endswith("None"):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise ValueError(f"{value!r} is no figure")
    return value


def _rhat_text(rhat: float | None) -> str:
    return "–" if rhat is None else f"{rhat:.3f}" if rhat < 100 else "> 100"


class Remedy(NamedTuple):
    """Something to try.

    Attributes
    ----------
    what : str
        In words, to go on after "the chains do not agree yet:".
    options : dict of str to int or str
        The options of `sample`, and of ``baytree fit``, with the values to give them.
    """

    what: str
    options: dict[str, int | str]


def verdict(found: Diagnostics, remedies: tuple[Remedy, ...], of_classes: bool) -> str:
    """Whether the chains agree, in the unit of the response, on what they do not, worst first, and what to try.

    Parameters
    ----------
    found : Diagnostics
        What was found.
    remedies : tuple of Remedy
        What `advice` gave.
    of_classes : bool
        Whether predictions are probabilities.
    """
    what = " or ".join(remedy.what for remedy in remedies)
    if found.chains == 1:
        return f"One chain has none to agree with: {what}."
    if not found.judged:
        return "Too few draws, or trees that never change: agreement of the chains cannot be judged."
    unseen = "" if found.predictions else " Predictions were not compared: posterior.diagnostics(design) does."
    units = _in_units(found.predictions, of_classes)
    names = listed([one.quantity for one in found.judged])
    if found.agree:
        return f"The chains agree: {units}R-hat is below {RHAT_LIMIT} for {names}.{unseen}"
    advised = f" To be sure, {what}." if what else ""
    if not found.apart:
        few = listed([f"{one.quantity} ({size:.0f})" for one, size in found.scarce])
        return (
            f"The chains nearly agree: {units}R-hat is below {RHAT_LIMIT} for {names}, but the effective sample size "
            f"is not {found.wanted_ess} for {few}.{advised}{unseen}"
        )
    apart = listed([f"{one.quantity} (R-hat {one.rhat_text})" for one in found.apart])
    if found.grade == "nearly":
        return (
            f"The chains nearly agree, enough for decisions, not for the third digit: {units}they differ on {apart}."
            f"{advised}{unseen}"
        )
    tried = f" Try this: {what}." if what else ""
    return f"The chains do not agree yet: {units}they differ on {apart}.{tried}{unseen}"


def _in_units(found: PredictionDiagnostic | None, of_classes: bool) -> str:
    """How far the chains are apart in the unit of the response, to go on from; nothing where that is not known."""
    if found is None or found.between_chain_sd is None or found.share is None:
        return ""
    far = found.between_chain_sd
    amount = f"probabilities differ by {100 * far:.2g} points" if of_classes else f"predictions differ by {far:.2g}"
    return f"{amount} between chains, {found.share:.0%} of their own uncertainty; "


def advice(found: Diagnostics, settings: RunSettings, tempers: bool) -> tuple[Remedy, ...]:
    """What to try; nothing where the chains agree.

    Parameters
    ----------
    found : Diagnostics
        What was found.
    settings : RunSettings
        How the chains were run.
    tempers : bool
        Whether they can be run at several temperatures.
    """
    if found.chains == 1:
        return (Remedy("take two or more", {"chains": CHAINS}),)
    if found.agree or not found.judged:
        return ()
    if found.is_enough:  # only more draws would show it
        draws = math.ceil(found.wanted_ess / INDEPENDENT / found.chains)
        return (Remedy(f"keep {draws} draws of each chain", {"draws": draws}),) if draws > settings.draws else ()
    effort = more_than(settings.effort)
    seconds = budget_of(effort) / PROCESSORS
    long = f"at most about {duration(seconds)} on two processors" if effort != UNLIMITED else "until they agree"
    fixed = tempers and settings.temperatures == 1 and not settings.free_ladder and settings.effort is not None
    options: dict[str, int | str] = {"effort": effort, **({"temperatures": AUTO} if fixed else {})}
    also = ", and leave the temperatures to the run" if fixed else ""
    return (Remedy(f"take effort={effort!r} ({long}, and as large a file){also}", options),)
