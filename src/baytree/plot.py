"""Pictures of posteriors: each function draws one on matplotlib axes, and returns these.

Whatever is drawn is also an object with its numbers, which prints and converts to JSON: each function names it. Colours
are those that colour-blind people tell apart. ``pip install 'baytree[plot]'`` gets matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .data.design import AnyDesign
from .errors import InputError
from .interpret.checks import calibration as calibration_of
from .interpret.checks import predictive_check as predictive_check_of
from .interpret.summary_tree import SummaryTree
from .plots import columns
from .posterior.base import BasePosterior
from .text import percent
from .trees.tree import Tree
from .validation import require_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "calibration",
    "coefficients",
    "decisions",
    "dependence",
    "experts",
    "explanation",
    "importance",
    "inclusion",
    "interactions",
    "models",
    "posterior_map",
    "predictive_check",
    "rank",
    "shap",
    "top_trees",
    "trace",
    "tree",
]


def __dir__() -> list[str]:
    return __all__


def tree(of: Any, ax: Axes | None = None) -> Axes:
    """A tree: its questions, and what its leaves say with credible intervals and rows.

    Parameters
    ----------
    of : Tree, SummaryTree or Posterior
        What is drawn; of a posterior of single trees the most probable one, `Posterior.map_tree`. Of a sum of trees
        give its ``summary_tree``.
    ax : matplotlib Axes, optional
        Where; by default on a new figure that is large enough for all leaves.
    """
    if isinstance(of, Tree | SummaryTree):
        return of.plot(ax)
    best = _asked(of, "map_tree", "no most probable tree to draw; give a tree, such as post.summary_tree(design)")()
    found = "" if best.probability is None else f", probability {percent(best.probability)}"
    sure = "" if best.certified else " found"
    return best.tree.plot(ax, f"Most probable tree{sure} for {of.schema.response.name}{found}")


def top_trees(posterior: BasePosterior, n: int = 4, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """The most probable trees, each with its probability: `Posterior.top_trees`.

    Parameters
    ----------
    posterior : Posterior
        Draws of single trees.
    n : int
        How many.
    axes : sequence of matplotlib Axes, optional
        One for each; by default on a new figure.
    """
    require_whole("n", n, 1)
    found = _asked(posterior, "top_trees", "no trees that come again and again")(n)
    if axes is None:
        lines = max(top.tree.n_leaves for top in found)
        width = 3.2 + 2.1 * max(top.tree.depth for top in found)
        across = 1 if width > 8 else min(2, len(found))
        down = -(-len(found) // across)
        axes = columns.panels(down, across, (across * width, down * (1.3 + max(1.6, 0.27 * lines))))
        for spare in axes[len(found) :]:
            spare.remove()
    for number, (top, ax) in enumerate(zip(found, axes, strict=False), start=1):
        top.tree.plot(ax, f"{number}. Probability {percent(top.probability)}")
    return axes[: len(found)]


def posterior_map(posterior: BasePosterior, ax: Axes | None = None, *, trees: int = 1000, levels: int = 3) -> Axes:
    """The trees of a posterior by decision path, each as wide as it is probable: `Posterior.posterior_map`.

    Parameters
    ----------
    posterior : Posterior
        Draws of single trees, or all of them.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    trees, levels : int
        How many of the most probable trees, and how many levels of each.
    """
    return _asked(posterior, "posterior_map", "no map of single trees")(trees, levels).plot(ax)


def trace(posterior: BasePosterior, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """What is monitored of each chain, draw by draw: `BasePosterior.trace`.

    Parameters
    ----------
    posterior : any posterior
        The draws.
    axes : sequence of matplotlib Axes, optional
        One a series; by default on a new figure.
    """
    return posterior.trace().plot(axes)


def rank(posterior: BasePosterior, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """How the draws of each chain rank among those of all: even where the chains agree.

    Parameters
    ----------
    posterior : any posterior
        The draws.
    axes : sequence of matplotlib Axes, optional
        One a series and chain, series by series; by default on a new figure.
    """
    return posterior.trace().plot(axes, kind="rank")


def predictive_check(posterior: BasePosterior, design: AnyDesign, ax: Axes | None = None, **options: Any) -> Axes:
    """What was observed beside new responses at the same rows: `baytree.interpret.predictive_check`.

    Parameters
    ----------
    posterior : any posterior
        The draws.
    design : Design, LinearDesign or SequenceDesign
        The rows.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    **options
        As `baytree.interpret.predictive_check` takes them.
    """
    return predictive_check_of(posterior, design, **options).plot(ax)


def calibration(posterior: BasePosterior, design: AnyDesign, ax: Axes | None = None, **options: Any) -> Axes:
    """Whether what is said with a probability comes true as often: `baytree.interpret.calibration`.

    Parameters
    ----------
    posterior : any posterior
        The draws.
    design : Design, LinearDesign or SequenceDesign
        The rows, best others than the training data.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    **options
        As `baytree.interpret.calibration` takes them.
    """
    return calibration_of(posterior, design, **options).plot(ax)


def importance(posterior: BasePosterior, ax: Axes | None = None, *, prob: float = 0.9) -> Axes:
    """How much each column is used, the most used first: ``posterior.variable_use``.

    Parameters
    ----------
    posterior : any posterior of trees, sums of trees or subsets
        The draws.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    prob : float
        The probability of the intervals.
    """
    return _asked(posterior, "variable_use", "no rules or terms to count; see its experts")(prob).plot(ax)


def interactions(posterior: BasePosterior, ax: Axes | None = None, *, kind: str = "map", prob: float = 0.9) -> Axes:
    """How often two columns meet in a tree: ``posterior.interactions``.

    Parameters
    ----------
    posterior : posterior of trees or sums of trees
        The draws.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    kind : {"map", "dots"}
        A matrix of the columns, or the pairs with their intervals.
    prob : float
        The probability of the intervals.
    """
    return _asked(posterior, "interactions", "no trees in which columns meet")(prob).plot(ax, kind)


def dependence(posterior: BasePosterior, X: Any, *by: str, ax: Axes | None = None, **options: Any) -> Axes:
    """How the average response depends on a column, with its band, or on two: ``posterior.partial_dependence``.

    Parameters
    ----------
    posterior : posterior of trees or sums of trees
        The draws.
    X : Design, path, frame or array-like
        The rows to average over, such as the training rows.
    *by : str
        One column, or two.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    **options
        As ``partial_dependence`` or ``two_way_dependence`` of the posterior take them.
    """
    if len(by) not in (1, 2):
        raise InputError(f"{len(by)} columns; name one column, or two")
    method = ("partial_dependence", "two_way_dependence")[len(by) - 1]
    return _asked(posterior, method, "no trees that answer column by column")(X, *by, **options).plot(ax)


def shap(posterior: BasePosterior, X: Any, ax: Axes | None = None, *, kind: str = "rows", **options: Any) -> Axes:
    """How much each column moves each prediction: ``posterior.shap``.

    Parameters
    ----------
    posterior : BARTPosterior
        Draws of sums of trees.
    X : Design, path, frame or array-like
        The rows to explain.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    kind : {"rows", "size"}
        A point for each row, or the average size with its interval.
    **options
        As ``shap`` of the posterior takes them.
    """
    return _asked(posterior, "shap", "no trees")(X, **options).plot(ax, kind)


def inclusion(posterior: BasePosterior, ax: Axes | None = None) -> Axes:
    """How probable each column is in the linear model: `SubsetPosterior.inclusion`.

    Parameters
    ----------
    posterior : SubsetPosterior
        The draws.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    """
    return _asked_of_subset(posterior, "inclusion").plot(ax)


def models(posterior: BasePosterior, n: int = 20, ax: Axes | None = None) -> Axes:
    """The most probable linear models with the columns in them: `SubsetPosterior.top_models`.

    Parameters
    ----------
    posterior : SubsetPosterior
        The draws.
    n : int
        How many.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    """
    return _asked_of_subset(posterior, "top_models", n).plot(ax)


def coefficients(posterior: BasePosterior, ax: Axes | None = None, *, prob: float = 0.9) -> Axes:
    """The coefficients, averaged over linear models: `SubsetPosterior.coefficients`.

    Parameters
    ----------
    posterior : SubsetPosterior
        The draws.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    prob : float
        The probability of the intervals.
    """
    return _asked_of_subset(posterior, "coefficients", prob).plot(ax)


def experts(posterior: BasePosterior, ax: Axes | None = None) -> Axes:
    """The gates and experts of a soft tree: `HMEPosterior.gate_directions`.

    Parameters
    ----------
    posterior : HMEPosterior
        The draws, of which the best is drawn.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    """
    return _asked(posterior, "gate_directions", "no soft gates and experts")().plot(ax)


def decisions(posterior: BasePosterior, X: Any, y: Any = None, ax: Axes | None = None, **options: Any) -> Axes:
    """The decisions of a hidden Markov decision tree over time: `HMDTPosterior.plot_decisions`.

    Parameters
    ----------
    posterior : HMDTPosterior
        The tree.
    X, y
        Sequences, as for `HMDTPosterior.predict`.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    **options
        As `HMDTPosterior.plot_decisions` takes them.
    """
    return _asked(posterior, "plot_decisions", "no decisions over time")(X, y, ax=ax, **options)


def explanation(posterior: BasePosterior, row: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Why one row is predicted as it is: ``posterior.explain``.

    Parameters
    ----------
    posterior : any posterior but those of sequences
        The draws.
    row : mapping, series, one-row frame or array-like
        The row.
    ax : matplotlib Axes, optional
        Where; by default on a new figure.
    **options
        As ``explain`` of the posterior takes them.
    """
    return _asked(posterior, "explain", "no single rows to explain")(row, **options).plot(ax)


def _asked(posterior: Any, method: str, instead: str) -> Any:
    """A method that not every posterior has."""
    found = getattr(posterior, method, None)
    if found is None:
        raise InputError(f"{type(posterior).__name__} has {instead}")
    return found


def _asked_of_subset(posterior: Any, method: str, *given: Any) -> Any:
    """What linear models have; single trees have an inclusion, too, which is no object, and soft ones coefficients."""
    if not callable(_asked(posterior, "coefficients", "no linear models")):
        raise InputError(f"{type(posterior).__name__} has no linear models of some of the columns; see its experts")
    return getattr(posterior, method)(*given)
