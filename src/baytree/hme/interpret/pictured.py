"""What a fitted estimator shows of its soft tree: data objects that draw themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.inputs import Inputs
from ..data.outputs import Outputs
from ..numeric.arrays import local
from ..tree.soft_tree import SoftTree
from .deviance_tree import DevianceTree, deviance_tree
from .gate_directions import GateDirections
from .histogram_tree import BINS, HistogramTree, histogram_tree
from .plane import GRID, ResponsibilityPlane, responsibility_plane

if TYPE_CHECKING:
    from ..posterior import HMEPosterior


class Pictured:
    """Pictures of an estimator's soft tree, each as numbers with a ``plot``."""

    posterior_: HMEPosterior
    tree_: SoftTree
    inputs_: Inputs
    outputs_: Outputs

    def gate_directions(self) -> GateDirections:
        """What each gate asks: a direction of the inputs, how sharply, and where; ``print`` or ``plot`` it."""
        self._require_fitted()
        return self.posterior_.gate_directions()

    def histogram_tree(self, X: Any, y: Any = None, sample_weight: Any = None, bins: int = BINS) -> HistogramTree:
        """How rows spread down the tree: at each gate a histogram of its decisions; ``plot`` it.

        Parameters
        ----------
        X : frame or array-like
            Rows.
        y : array-like, optional
            Their responses: then decisions are those given the response too, as EM sees them; else the gates' own.
        sample_weight : array-like, optional
            How many copies of itself each row counts as.
        bins : int
            Of each histogram.
        """
        inputs, outputs, weight = self._rows(X, y, sample_weight)
        return histogram_tree(self.tree_.to_numpy(), inputs, outputs, weight, bins)

    def deviance_tree(self, X: Any, y: Any, sample_weight: Any = None) -> DevianceTree:
        """How much deviance each split removes; ``print`` or ``plot`` it.

        Parameters
        ----------
        X, y
            Rows and their responses, best those that were fitted: single experts in the place of gates are fitted to
            them.
        sample_weight : array-like, optional
            How many copies of itself each row counts as.
        """
        inputs, outputs, weight = self._rows(X, y, sample_weight)
        log_scale = float(np.sum(np.log(self.outputs_.scale)))
        return deviance_tree(self.tree_.to_numpy(), inputs, outputs, weight, self._ridge, log_scale)

    def responsibility_plane(
        self, X: Any, columns: tuple[str | int, str | int], grid: int = GRID
    ) -> ResponsibilityPlane:
        """Which leaf answers where, over two columns, the others being typical of the rows; ``plot`` it.

        Parameters
        ----------
        X : frame or array-like
            Rows; the plane reaches as far as they do.
        columns : tuple of two str or int
            Numeric columns, by name or position.
        grid : int
            Values of each.
        """
        self._rows(X, None, None)
        matrix = self.inputs_.schema.encode(local(X))
        return responsibility_plane(self.tree_.to_numpy(), self.inputs_, matrix, columns, grid)

    @property
    def _ridge(self) -> float:
        """The penalty of the fit."""
        raise NotImplementedError

    def _require_fitted(self) -> None:
        raise NotImplementedError

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, Any, np.ndarray]:
        """Inputs, outputs, where there are responses, and weights of new rows."""
        raise NotImplementedError
