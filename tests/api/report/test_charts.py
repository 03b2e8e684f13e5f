"""Pictures of plain numbers: nothing that a reader needs is cut or lies over something else."""

import re

import pytest

from baytree.report import charts
from baytree.report.drawing import ticks

DISTRICTS = ["east", "harbour & docks", "north", "old town", "south", "west", "(missing)"]


def test_every_category_is_named() -> None:
    ends = [(level - 1.0, level + 1.0) for level in range(1000, 1007)]
    picture = str(charts.band("d", DISTRICTS, range(1000, 1007), ends, ("district", "average rent")))
    for name in DISTRICTS:
        assert f">{name.replace('&', '&amp;')}<" in picture
    # The axis begins where the numbers are, and not at 0.
    assert ">0<" not in picture
    few = str(charts.band("d", ["no", "yes"], [1.0, 2.0], [(0.5, 1.5), (1.5, 2.5)], ("balcony", "average rent")))
    assert ">no<" in few and ">yes<" in few and ">balcony<" in few


@pytest.mark.parametrize("high", [1.0, 12345.0, -123456789.0])
def test_numbers_of_an_axis_leave_room_for_its_name(high: float) -> None:
    picture = str(charts.traces("t", [[0.0, high, high / 2]], "log-likelihood"))
    beside = re.findall(r'<text x="([-\d.]+)" [^>]*text-anchor="end" class="tick">([^<]*)', picture)
    assert len(beside) > 1
    for x, said in beside:
        assert float(x) - 6 * len(said) > 14
    assert "log-likelihood" in picture


def test_pairs_of_names_are_whole() -> None:
    name = "exercise_angina × major_vessels"
    assert f">{name}<" in str(charts.dots("i", [name], [0.5], None, "probability"))


def test_an_axis_has_two_numbers_at_least() -> None:
    assert ticks(458.0, 541.0, about=4) == [460.0, 480.0, 500.0, 520.0, 540.0]
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
