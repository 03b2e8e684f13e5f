"""Parameters of models and their priors that cannot be used."""

# What is given is of a wrong type on purpose.
# mypy: disable-error-code="arg-type,list-item,dict-item,operator"

from __future__ import annotations

import numpy as np

import baytree as bt

from .case import Case
from .given import EM, ROWS, THREE, B, X, Y, column, drawn, fitted, lines, steps, trees

InputError = bt.InputError
NAN, INF = float("nan"), float("inf")
TREE = "x0 <= 0.5?\n├─ yes: 0.0 (40 rows)\n└─ no:  1.0 (20 rows)"
FLOATS = np.array([1.0, 2.0])


def subset(**options: object) -> np.ndarray:
    return fitted(model=bt.Subset(**options))


def known(*constraints: object, y: object = Y) -> np.ndarray:
    """Predictions of a tree of which something is known."""
    prior = bt.GrowTree()
    for constraint in constraints:
        prior = prior & constraint
    return fitted(y=y, model=bt.CART(prior))


MODELS = [
    # ---- CART -----------------------------------------------------------------------------------------------------
    Case("a word for the prior of a tree", lambda: bt.CART("grow"), InputError, "prior='grow'"),
    Case("a class for the prior of a tree", lambda: bt.CART(bt.GrowTree), InputError, "prior="),
    Case("a word for the leaf", lambda: bt.CART(leaf="gaussian"), InputError, "leaf='gaussian'"),
    Case("a proposal that is none", lambda: bt.CART(proposal="gibbs"), InputError, "gibbs"),
    Case("a proposal that is a number", lambda: bt.CART(proposal=3), InputError, "proposal"),
    Case("an empty proposal", lambda: bt.CART(proposal=""), InputError, "proposal"),
    Case("no proposals in a mixture", lambda: bt.CART(proposal={}), InputError, "proposal"),
    Case("a proposal of negative weight", lambda: bt.CART(proposal={"uc": -1}), InputError, "uc"),
    Case("proposals of weight zero alone", lambda: bt.CART(proposal={"uc": 0.0}), InputError, "positive"),
    Case("a proposal of weight NaN", lambda: bt.CART(proposal={"uc": NAN}), InputError, "uc"),
    Case("a proposal of infinite weight", lambda: bt.CART(proposal={"uc": INF}), InputError, "uc"),
    Case("proposals whose weights overflow", lambda: fitted(model=bt.CART(proposal={"uc": 1e308, "change": 1e308}))),
    Case("a proposal of a list for its weight", lambda: bt.CART(proposal={"uc": [1]}), InputError, "uc"),
    Case("a cycle of no steps", lambda: fitted(model=bt.CART(proposal="cycle(0)"))),
    Case("a cycle without its steps", lambda: bt.CART(proposal="cycle"), InputError, "cycle"),
    Case(
        "a cycle past what can be counted", lambda: bt.CART(proposal="cycle(99999999999999999999)"), InputError, "cycle"
    ),
    Case(
        "a proposal that does not reach every tree",
        lambda: fitted(model=bt.CART(proposal="swap")),
        None,
        "never change the shape of a tree",
    ),
    Case(
        "a proposal of programs without a program",
        lambda: fitted(model=bt.CART(proposal="address")),
        InputError,
        "address",
    ),
    Case("a negative power", lambda: bt.CART(power=-1), InputError, "power=-1"),
    Case("a power of NaN", lambda: bt.CART(power=NAN), InputError, "power=nan"),
    Case("a power of a word", lambda: bt.CART(power="high"), InputError, "power='high'"),
    Case("an infinite power", lambda: bt.CART(power=INF), InputError, "power=inf"),
    Case("a power that squares leave", lambda: fitted(model=bt.CART(power=1e300))),
    Case("a concentration of zero", lambda: bt.Categorical(0), InputError, "concentration=0"),
    Case("a concentration of a list", lambda: bt.Categorical([1, 1]), InputError, "concentration"),
    Case("a concentration past reason", lambda: fitted(y=THREE, model=bt.CART(leaf=bt.Categorical(1e300)))),
    Case("a concentration of next to nothing", lambda: fitted(y=THREE, model=bt.CART(leaf=bt.Categorical(1e-300)))),
    Case("a mean of a leaf that is infinite", lambda: bt.Gaussian(mean=INF), InputError, "mean=inf"),
    Case("a mean of a leaf that is text", lambda: bt.Gaussian(mean="0"), InputError, "mean='0'"),
    Case("a kappa of zero", lambda: bt.Gaussian(kappa=0), InputError, "kappa=0"),
    Case("a negative nu of a leaf", lambda: bt.Gaussian(nu=-3), InputError, "nu=-3"),
    Case("a scale of a leaf that is NaN", lambda: bt.Gaussian(scale=NAN), InputError, "scale=nan"),
    Case("a mean of a leaf far from the response", lambda: fitted(model=bt.CART(leaf=bt.Gaussian(mean=1e150)))),
    Case("a mean of a leaf at the end of the floats", lambda: fitted(model=bt.CART(leaf=bt.Gaussian(mean=1e300)))),
    Case("a scale of a leaf at the end of the floats", lambda: fitted(model=bt.CART(leaf=bt.Gaussian(scale=1e308)))),
    # ---- GrowTree -------------------------------------------------------------------------------------------------
    Case("an alpha of zero leaves one leaf", lambda: np.ptp(fitted(model=bt.CART(bt.GrowTree(alpha=0)))) == 0),
    Case("an alpha past 1", lambda: bt.GrowTree(alpha=1.5), InputError, "alpha=1.5"),
    Case("an alpha of NaN", lambda: bt.GrowTree(alpha=NAN), InputError, "alpha=nan"),
    Case("an alpha of text", lambda: bt.GrowTree(alpha="0.9"), InputError, "alpha='0.9'"),
    Case("an alpha that is true", lambda: bt.GrowTree(alpha=True), InputError, "alpha=True"),
    Case("an alpha in an array", lambda: bt.GrowTree(alpha=FLOATS), InputError, "alpha"),
    Case("a negative beta", lambda: bt.GrowTree(beta=-0.1), InputError, "beta=-0.1"),
    Case("an infinite beta", lambda: bt.GrowTree(beta=INF), InputError, "beta=inf"),
    Case("a beta of 1e6", lambda: fitted(model=bt.CART(bt.GrowTree(beta=1e6)))),
    Case("no rows in a leaf", lambda: bt.GrowTree(min_leaf=0), InputError, "min_leaf=0"),
    Case("rows of a leaf in parts", lambda: bt.GrowTree(min_leaf=2.5), InputError, "min_leaf=2.5"),
    Case("rows of a leaf past 32 bits", lambda: bt.GrowTree(min_leaf=2**31), InputError, "min_leaf=2147483648"),
    Case(
        "more rows in a leaf than there are",
        lambda: fitted(model=bt.CART(bt.GrowTree(min_leaf=10**6))),
        None,
        "every tree is one leaf",
    ),
    Case("a rule that is none", lambda: bt.GrowTree(rule="columns"), InputError, "rule 'columns'"),
    Case("a rule that is None", lambda: bt.GrowTree(rule=None), InputError, "rule"),
    Case("knowledge that is a word", lambda: bt.GrowTree(knowledge="max_depth"), InputError, "knowledge"),
    Case("a prior joined to a number", lambda: bt.GrowTree() & 3, TypeError, "unsupported operand"),
    # ---- EditTree -------------------------------------------------------------------------------------------------
    Case("no tree to edit", lambda: bt.EditTree(""), InputError, "give a tree as text"),
    Case("a tree to edit of words", lambda: bt.EditTree("what?"), bt.FileError, "what?: cannot be read"),
    Case("a number for a tree to edit", lambda: bt.EditTree(7), InputError, "tree"),
    Case("a tree to edit of half a question", lambda: bt.EditTree(TREE.splitlines()[0] + "\n"), InputError, "tree"),
    Case(
        "a tree to edit that asks about no column",
        lambda: fitted(model=bt.CART(bt.EditTree(TREE.replace("x0", "zz")))),
        InputError,
        "zz",
    ),
    Case("a tree to edit of control characters", lambda: bt.EditTree("\x1b[2J <= 1?\n\x00"), InputError, "tree"),
    Case("a tree to edit a thousand deep", lambda: bt.EditTree("├─ yes: x0 <= 0.5?\n" * 5000), InputError, "tree"),
    Case("a negative number of edits", lambda: bt.EditTree(TREE, edits=-1), InputError, "edits=-1"),
    Case("an infinite number of edits", lambda: bt.EditTree(TREE, edits=INF), InputError, "edits=inf"),
    Case(
        "edits that never grow, prune or change",
        lambda: bt.EditTree(TREE, grow=0, prune=0, change=0),
        InputError,
        "grow",
    ),
    Case("a negative share of growing", lambda: bt.EditTree(TREE, grow=-1), InputError, "grow=-1"),
    Case("a tree to edit for a sum of trees", lambda: bt.BART(prior=bt.EditTree(TREE)), InputError, "prior"),
    # ---- BART -----------------------------------------------------------------------------------------------------
    Case("no trees", lambda: bt.BART(trees=0), InputError, "trees=0"),
    Case("half a tree", lambda: bt.BART(trees=1.5), InputError, "trees=1.5"),
    Case("trees that are true", lambda: bt.BART(trees=True), InputError, "trees=True"),
    Case("trees past 32 bits", lambda: bt.BART(trees=2**40), InputError, "trees="),
    Case("a k of zero", lambda: bt.BART(k=0), InputError, "k=0"),
    Case("a k of another word", lambda: bt.BART(k="auto"), InputError, "k='auto'"),
    Case("a k past reason", lambda: fitted(model=bt.BART(trees=2, k=1e300)), InputError, "k=1e+300"),
    Case("a k of next to nothing", lambda: fitted(model=bt.BART(trees=2, k=1e-300)), InputError, "k=1e-300"),
    Case("a nu of zero for a sum", lambda: bt.BART(nu=0), InputError, "nu=0"),
    Case("a q of 1", lambda: bt.BART(q=1), InputError, "q=1"),
    Case("a q of 0", lambda: bt.BART(q=0.0), InputError, "q=0.0"),
    Case("a q next to 1", lambda: fitted(model=bt.BART(trees=2, q=1 - 1e-16))),
    Case("a sigma of zero", lambda: bt.BART(sigma=0), InputError, "sigma=0"),
    Case("a sigma of another word", lambda: bt.BART(sigma="auto"), InputError, "no sigma 'auto'"),
    Case(
        "a sigma past reason",
        lambda: fitted(model=bt.BART(trees=2, sigma=1e300)),
        InputError,
        "choose a guess at its noise",
    ),
    Case("a noise of another word", lambda: bt.BART(noise="cauchy"), InputError, "noise 'cauchy'"),
    Case(
        "Student noise with a variance that trees learn",
        lambda: bt.BART(noise="student", variance="forest"),
        InputError,
        "choose noise='normal'",
    ),
    Case(
        "Student noise with a power of the likelihood",
        lambda: bt.BART(noise="student", power=0.5),
        InputError,
        "power=0.5",
    ),
    Case("a variance of another word", lambda: bt.BART(variance="learned"), InputError, "variance 'learned'"),
    Case(
        "no trees of the variance", lambda: bt.BART(variance="forest", variance_trees=0), InputError, "variance_trees=0"
    ),
    Case(
        "soft rules with noise that trees learn", lambda: bt.BART(variance="forest", split="soft"), InputError, "split"
    ),
    Case("a split of another word", lambda: bt.BART(split="fuzzy"), InputError, "split 'fuzzy'"),
    Case("a bandwidth of zero", lambda: bt.BART(split="soft", bandwidth=0), InputError, "bandwidth=0"),
    Case(
        "a bandwidth past reason",
        lambda: fitted(model=bt.BART(trees=2, split="soft", bandwidth=1e300)),
        InputError,
        "from 1e-12 to 1e+12",
    ),
    Case("a beginning of another word", lambda: bt.BART(init="best"), InputError, "init 'best'"),
    Case("a move of sums of trees that is none", lambda: bt.BART(proposal={"grow": 1}), InputError, "grow"),
    Case(
        "moves that never come",
        lambda: bt.BART(proposal={"change": 0}),
        InputError,
        "choose a positive number, or leave it out",
    ),
    Case("a negative power of a sum", lambda: bt.BART(power=-0.5), InputError, "power=-0.5"),
    Case(
        "sparse weights twice",
        lambda: bt.BART(prior=bt.GrowTree() & bt.Weights("sparse") & bt.Weights("sparse")).prior is not None,
    ),
    Case("sparse weights for a single tree", lambda: known(bt.Weights("sparse")), InputError, "BART"),
    Case(
        "soft rules of a program",
        lambda: fitted(model=bt.BART(prior=bt.slp.load("growtree.slp"), split="soft")),
        InputError,
        "soft",
    ),
    Case(
        "a growing column with soft rules",
        lambda: fitted(model=bt.BART(prior=bt.GrowTree() & bt.Monotone(x0=1), split="soft")),
        InputError,
        "Monotone",
    ),
    # ---- Subset and its priors ------------------------------------------------------------------------------------
    Case(
        "a prior of models that is a word",
        lambda: bt.Subset(model_prior="uniform"),
        InputError,
        "model_prior='uniform'",
    ),
    Case("an expected size of NaN", lambda: bt.Subset(model_prior=NAN), InputError, "nan"),
    Case("an expected size of zero", lambda: subset(model_prior=0.0), InputError, "0"),
    Case("coefficients by a word", lambda: bt.Subset(coefficients="g"), InputError, "coefficients='g'"),
    Case("a g of zero", lambda: bt.GPrior(0), InputError, "c=0"),
    Case("a g of another word", lambda: bt.GPrior("zellner"), InputError, "no c 'zellner'"),
    Case("an infinite g", lambda: bt.GPrior(INF), InputError, "c=inf"),
    Case("a g at the end of the floats", lambda: subset(coefficients=bt.GPrior(1e308))),
    Case("a hyper-g of 2", lambda: bt.HyperG(2), InputError, "a=2"),
    Case("a hyper-g of NaN", lambda: bt.HyperG(NAN), InputError, "a=nan"),
    Case("a hyper-g/n past reason", lambda: bt.HyperGN(1e300), InputError, "and 1000 or less"),
    Case("a ridge of zero", lambda: bt.Ridge(0), InputError, "c=0"),
    Case("a ridge at the end of the floats", lambda: subset(coefficients=bt.Ridge(1e308))),
    Case("a ridge of next to nothing", lambda: subset(coefficients=bt.Ridge(1e-308))),
    Case("a Beta of zero", lambda: bt.BetaBinomial(0, 1), InputError, "a=0"),
    Case("a Beta of text", lambda: bt.BetaBinomial(1, "1"), InputError, "b='1'"),
    Case("a Beta past reason", lambda: bt.BetaBinomial(1e300, 1e-300), InputError, "a=1e+300"),
    Case("an expected size below zero", lambda: bt.ExpectedSize(-1), InputError, "k=-1"),
    Case("an expected size past the columns", lambda: subset(model_prior=bt.ExpectedSize(50)), InputError, "50"),
    Case("sizes of no probability", lambda: bt.SizePrior([0, 0]), InputError, "h"),
    Case("sizes of negative probability", lambda: bt.SizePrior([1, -1]), InputError, "h"),
    Case("sizes of NaN", lambda: bt.SizePrior([NAN, 1]), InputError, "h"),
    Case("no sizes", lambda: bt.SizePrior([]), InputError, "h"),
    Case("sizes of text", lambda: bt.SizePrior("ab"), InputError, "h"),
    Case("no size but 0", lambda: subset(model_prior=bt.SizePrior([1.0]))),
    Case(
        "weights of columns that are not there",
        lambda: subset(model_prior=bt.Independent({"z": 0.5})),
        InputError,
        "'z'",
    ),
    Case("a weight of a column past 1", lambda: bt.Independent(2), InputError, "w=2"),
    Case("a weight of a column that is NaN", lambda: bt.Independent({"x0": NAN}), InputError, "x0"),
    Case("a column always in that is not there", lambda: subset(always=("z",)), InputError, "'z'"),
    Case("a column always in by a wrong position", lambda: subset(always=(7,)), InputError, "no column 7"),
    Case("a word for the columns always in", lambda: subset(always="x0")),
    Case("a number for the columns always in", lambda: subset(always=0)),
    Case("every column always in", lambda: subset(always=("x0", "x1"))),
    Case("heredity by another word", lambda: bt.Subset(heredity="both"), InputError, "heredity 'both'"),
    Case("heredity that is true", lambda: bt.Subset(heredity=True), InputError, "heredity"),
    Case("an intercept that is a word", lambda: bt.Subset(fit_intercept="yes"), InputError, "fit_intercept='yes'"),
    Case("a method of subsets that is none", lambda: bt.Subset(method="exact"), InputError, "method 'exact'"),
    Case("moves of subsets that are none", lambda: bt.Subset(proposal={"jump": 1}), InputError, "jump"),
    Case("a negative nu of linear models", lambda: bt.Subset(nu=-1), InputError, "nu=-1"),
    Case("a scale of linear models that is a word", lambda: bt.Subset(scale="linear"), InputError, "scale='linear'"),
    Case("a scale of linear models past reason", lambda: subset(scale=1e308), InputError, "scale=1e+308"),
    Case(
        "fifty columns to be listed one by one",
        lambda: fitted(
            np.random.default_rng(2).normal(size=(60, 50)),
            np.arange(60.0),
            task="regression",
            model=bt.Subset(method="enumerate"),
        ),
        InputError,
        "enumerate",
    ),
    # ---- HME ------------------------------------------------------------------------------------------------------
    Case("a negative depth", lambda: bt.HME(depth=-1), InputError, "depth=-1"),
    Case("a depth of 60", lambda: bt.HME(depth=60), InputError, "leaves"),
    Case("a depth past 32 bits", lambda: bt.HME(depth=2**31 - 1), InputError, "countless leaves"),
    Case("one branch", lambda: bt.HME(branching=1), InputError, "branching=1"),
    Case("branches past reason", lambda: bt.HME(branching=10**6), InputError, "leaves"),
    Case("an expert that is none", lambda: bt.HME(expert="tree"), InputError, "expert 'tree'"),
    Case("an expert that cannot be looked up", lambda: bt.HME(expert=["linear"]), InputError, "expert"),
    Case("a method of mixtures that is none", lambda: bt.HME(method="mcmc"), InputError, "method 'mcmc'"),
    Case("a beginning of mixtures that is none", lambda: bt.HME(init="best"), InputError, "init 'best'"),
    Case("a beginning at a number", lambda: bt.HME(init=3), InputError, "is no decision tree"),
    Case(
        "a beginning at a tree of other columns",
        lambda: fitted(model=bt.HME(depth=1, init=drawn(trees(column(B))))),
        InputError,
        "init: the tree was fitted to 3 columns",
    ),
    Case(
        "a beginning at a tree of classes of columns",
        lambda: fitted(column(THREE), model=bt.HME(depth=1, init=drawn(trees(column(THREE))))),
        InputError,
        "init",
    ),
    Case(
        "a decision tree of three branches", lambda: bt.HME(init="cart", branching=3), InputError, "two branches, not 3"
    ),
    Case("a negative ridge", lambda: bt.HME(ridge=-1), InputError, "ridge=-1"),
    Case("a ridge of another word", lambda: bt.HME(ridge="small"), InputError, "ridge='small'"),
    Case("no ridge for chains", lambda: bt.HME(ridge=0, method="gibbs"), InputError, "under a prior"),
    Case("a ridge past reason", lambda: fitted(model=bt.HME(depth=1, ridge=1e300))),
    Case("a ridge past reason, for chains", lambda: fitted(model=bt.HME(depth=1, ridge=1e300, method="gibbs"))),
    Case(
        "a ridge of next to nothing, for chains",
        lambda: fitted(model=bt.HME(depth=1, ridge=1e-300, method="gibbs")),
        InputError,
        "ridge=1e-300",
    ),
    Case(
        "no ridge for classes that a column tells apart",
        lambda: fitted(np.arange(ROWS)[:, None], np.arange(ROWS) > 14, model=bt.HME(depth=1, ridge=0)),
    ),
    Case("no epochs", lambda: bt.HME(epochs=0), InputError, "epochs=0"),
    Case("a tolerance of NaN", lambda: bt.HME(tol=NAN), InputError, "tol=nan"),
    Case("a share held out past 1", lambda: bt.HME(validation_fraction=1.0), InputError, "validation_fraction=1.0"),
    Case(
        "a share held out that leaves no row",
        lambda: fitted(
            X[:3], Y[:3], task="regression", model=bt.HME(depth=1, early_stopping=True, validation_fraction=0.99)
        ),
        InputError,
        "3 rows cannot be divided",
    ),
    Case("an early stop that is a word", lambda: bt.HME(early_stopping="yes"), InputError, "early_stopping='yes'"),
    Case("a decay past 1", lambda: bt.HME(decay=1.1), InputError, "decay=1.1"),
    Case(
        "a decay of next to nothing",
        lambda: fitted(model=bt.HME(depth=1, method="online", decay=1e-300)),
        InputError,
        "decay=1e-300",
    ),
    Case("a nu of mixtures that is zero", lambda: bt.HME(nu=0), InputError, "nu=0"),
    Case("a scale of mixtures that is negative", lambda: bt.HME(scale=-1.0), InputError, "scale=-1.0"),
    Case(
        "a scale of mixtures past reason",
        lambda: fitted(model=bt.HME(depth=1, method="gibbs", scale=1e300)),
        InputError,
        "scale=1e+300",
    ),
    Case(
        "Poisson experts for chains",
        lambda: bt.HME(expert="poisson", method="gibbs"),
        InputError,
        "is not for poisson experts",
    ),
    Case(
        "columns kept of random gates",
        lambda: bt.HME(init="random", keep_columns=True),
        InputError,
        "has no columns to keep",
    ),
    Case("intervals of one tree", lambda: drawn(lines(), EM).predict(X, "interval"), InputError, "has no error bars"),
    # ---- HMDT -----------------------------------------------------------------------------------------------------
    Case("a depth of sequences past reason", lambda: bt.HMDT(depth=40), InputError, "depth=40"),
    Case("a method of sequences that is none", lambda: bt.HMDT(method="gibbs"), InputError, "method 'gibbs'"),
    Case(
        "joint states past reason", lambda: drawn(steps(), bt.HMDT(depth=5, method="exact")), InputError, "joint states"
    ),
    Case("a beginning of sequences that is none", lambda: bt.HMDT(init="random tree"), InputError, "init"),
    Case("no beginnings of sequences", lambda: bt.HMDT(n_init=0), InputError, "n_init=0"),
    Case("a negative ridge of sequences", lambda: bt.HMDT(ridge=-0.1), InputError, "ridge=-0.1"),
    Case("counts of sequences", lambda: drawn(steps(), bt.HMDT(expert="poisson")), InputError, "expert"),
    Case("trees of sequences for a table", lambda: drawn(lines(), bt.HMDT()), InputError, "SequenceDesign"),
    Case("linear models for bins", lambda: drawn(trees(), bt.Subset()), InputError, "LinearDesign"),
    Case("trees for a matrix", lambda: drawn(lines(), bt.CART()), InputError, "LinearDesign"),
    Case("sums of trees for sequences", lambda: drawn(steps(), bt.BART()), InputError, "SequenceDesign"),
    # ---- knowledge ------------------------------------------------------------------------------------------------
    Case("a box of no column", lambda: bt.Box(), InputError, "names no column"),
    Case("a box of an empty side", lambda: bt.Box(x0="5..3"), InputError, "exchange the two ends"),
    Case("a box of words", lambda: bt.Box(x0="high"), InputError, "is no side of a box"),
    Case("a box of NaN", lambda: bt.Box(x0="<=nan"), InputError, "box"),
    Case("a box of a column that is not there", lambda: known(bt.Box(z="<=1")), InputError, "'z'"),
    Case("a box of a position that is not there", lambda: known(bt.Box({9: "<=1"})), InputError, "9"),
    Case("a box that is a list", lambda: bt.Box(["x0"]), InputError, "give a mapping from columns"),
    Case("a column that neither grows nor falls", lambda: bt.Monotone(x0=0), InputError, "choose +1, growing"),
    Case("a column that grows and falls", lambda: known(bt.Monotone(x0=1), bt.Monotone(x0=-1)), InputError, "keep one"),
    Case(
        "a growing column of labels",
        lambda: fitted(column(THREE), model=bt.CART(bt.GrowTree() & bt.Monotone(c=1))),
        InputError,
        "categorical",
    ),
    Case("groups of no columns", lambda: bt.Interact([[]]), InputError, "Interact names no column"),
    Case("a group of a word", lambda: bt.Interact("x0"), InputError, "list of groups"),
    Case("a column in no group that is there", lambda: known(bt.Interact([["x0", "z"]])), InputError, "'z'"),
    Case("every column forbidden", lambda: known(bt.Forbid("x0", "x1")), InputError, "every column is forbidden"),
    Case("a list to forbid", lambda: bt.Forbid(["x0"]), InputError, "name the columns one by one"),
    Case("forbidden below a negative depth", lambda: bt.Forbid("x0", below=-1), InputError, "below=-1"),
    Case("forbidden below a column that is not there", lambda: known(bt.Forbid("x0", below="z")), InputError, "'z'"),
    Case("nothing to forbid", lambda: bt.Forbid(), InputError, "names no column"),
    Case(
        "only a forbidden column",
        lambda: known(bt.Forbid("x0"), bt.Only(0, ["x0"])),
        InputError,
        "which Forbid excludes",
    ),
    Case(
        "only columns that others are not",
        lambda: known(bt.Only(0, ["x0"]), bt.Only(0, ["x1"])),
        InputError,
        "no column in common",
    ),
    Case("only the response", lambda: known(bt.Only(0, ["y"])), InputError, "is the response"),
    Case("a depth of only that is a word", lambda: bt.Only("root", ["x0"]), InputError, "depth"),
    Case("a depth of a tree below zero", lambda: bt.MaxDepth(-1), InputError, "most=-1"),
    Case("a depth of a tree in parts", lambda: bt.MaxDepth(1.5), InputError, "most=1.5"),
    Case("no leaves at most", lambda: bt.MaxLeaves(0), InputError, "most=0"),
    Case("no questions at all", lambda: known(bt.MaxDepth(0)), None, "every tree is a single leaf"),
    Case("a weight of a column of zero", lambda: bt.Weights(x0=0), InputError, "use Forbid"),
    Case("a weight of a column that is infinite", lambda: bt.Weights(x0=INF), InputError, "positive number"),
    Case("two weights of a column", lambda: known(bt.Weights(x0=1), bt.Weights(x0=2)), InputError, "keep one"),
    Case("weights by another word", lambda: bt.Weights("dense"), InputError, "Weights"),
    Case("weights that overflow", lambda: known(bt.Weights(x0=1e308, x1=1e308)), InputError, "x0=1e+308"),
    Case("weights that vanish", lambda: known(bt.Weights(x0=1e-320, x1=1e-320)), InputError, "from 1e-100 to 1e+100"),
    Case("constraints that are none", lambda: bt.Knowledge(("max_depth",)), InputError, "onstraint"),
]
