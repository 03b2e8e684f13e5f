"""The experts of a soft tree in the words and units of its table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...data.response import Response
from ...plots.soft_trees import signed
from ..data.inputs import Inputs
from ..data.outputs import Outputs
from ..tree.experts import Classes, Gaussian
from ..tree.soft_tree import SoftTree

# How many columns of an expert are named in a line.
NAMED = 3


@dataclass(frozen=True)
class ExpertWords:
    """What one expert says.

    Attributes
    ----------
    average : dict of str to float
        Of an average row, by output or class, in the units of the response.
    slopes : dict of str to dict of str to float
        Of each output, or class but the last, what a unit of the table's columns adds to the linear predictor, the
        strongest in standard units first. Linear experts predict the response itself, those for counts and times its
        logarithm, those for classes the log odds against the last.
    sd : dict of str to float
        Of linear and constant experts, the standard deviation of each output.
    """

    average: dict[str, float]
    slopes: dict[str, dict[str, float]]
    sd: dict[str, float]

    def __str__(self) -> str:
        parts = []
        for name, value in self.average.items():
            terms = list(self.slopes.get(name, {}).items())
            more = " …" if len(terms) > NAMED else ""
            slopes = " ".join(f"{signed(slope)} {column}" for column, slope in terms[:NAMED])
            noise = f", sd {self.sd[name]:.3g}" if name in self.sd else ""
            parts.append(f"{name} {value:.4g}{f' ({slopes}{more})' if slopes else ''}{noise}")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-safe values."""
        return asdict(self)


def expert_words(tree: SoftTree, inputs: Inputs, outputs: Outputs, response: Response) -> tuple[ExpertWords, ...]:
    """What the experts of a tree say, from left to right.

    Parameters
    ----------
    tree : SoftTree
        The parameters, for inputs and outputs in standard units.
    inputs, outputs : Inputs, Outputs
        Those units.
    response : Response
        What is predicted.
    """
    experts = tree.experts
    average = np.append(np.zeros(len(inputs.kept)), 1.0)[None]
    levels = outputs.original(experts.means(average)[:, 0])
    # Others are linear in logarithms, which have no unit.
    unit = outputs.scale if isinstance(experts, Gaussian) else np.ones(levels.shape[1])
    if isinstance(experts, Classes):
        assert response.classes is not None
        names = [str(label) for label in response.classes]
    else:
        names = [response.name]
        if levels.shape[1] > 1:
            names = [f"{response.name}[{place}]" for place in range(levels.shape[1])]
    found = []
    for leaf, level in enumerate(levels):
        of_leaf = experts.coefficients[leaf].T if isinstance(experts, Classes) else experts.coefficients[leaf]
        slopes = {}
        if len(of_leaf) > 1:
            for place, name in enumerate(names[: of_leaf.shape[1]]):
                order = np.argsort(-np.abs(of_leaf[:-1, place]), kind="stable")
                in_units = of_leaf[:-1, place] * unit[place] / inputs.scale
                slopes[name] = {inputs.names[column]: float(in_units[column]) for column in order}
        sd = np.sqrt(experts.variance[leaf]) * unit if isinstance(experts, Gaussian) else np.zeros(0)
        said = dict(zip(names, level.tolist(), strict=True))
        found.append(ExpertWords(said, slopes, dict(zip(names, sd.tolist(), strict=False))))
    return tuple(found)
