"""Programs of the paper, as printed."""

# Angelopoulos and Cussens (2005), figure 2.
FIGURE_2 = """
1 - 1/D : [D] : cart(leaf).
1/D : [D] : cart(Split-[L,R]) :-
    NewD is D+1, splt(Split),
    [NewD] : cart(L), [NewD] : cart(R).

0.4:splt(x1). 0.3:splt(x2). 0.3:splt(x3).
"""
