"""How a table is read: raw values become the bins that the enumeration was given by hand."""

import pytest

from exact.trees.native import read_space
from reference.trees.spaces import SPACES, Space


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_raw_values_become_the_bins_of_the_space(space: Space) -> None:
    assert read_space(space).rows == len(space.table.response)
