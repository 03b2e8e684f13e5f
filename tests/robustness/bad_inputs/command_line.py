"""Commands and options that cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import Case, Ended, command, in_little_memory
from .files import BAD_FILE, GOOD, QUICK, WRONG_INPUT
from .given import model_file


def fit(options: str, **files: Any) -> Callable[[], Ended]:
    """Fit to the good table, with these options."""
    return command(f"fit t.csv --target y {QUICK} --out m.baytree {options}", {"t.csv": GOOD} | files)


def prior(options: str) -> Callable[[], Ended]:
    return command(f"prior t.csv --target y {options}", {"t.csv": GOOD})


def predict(family: str, options: str, new: Any = "x0,x1\n1,2\n") -> Callable[[], Ended]:
    """Predict a table by a short run of a family."""
    return command(f"predict m.baytree n.csv {options}", {"m.baytree": model_file(family), "n.csv": new})


def show(family: str, options: str) -> Callable[[], Ended]:
    return command(f"show m.baytree {options}", {"m.baytree": model_file(family)})


COMMAND_LINE = [
    # ---- usage ----------------------------------------------------------------------------------------------------
    Case("a command that is none", command("train t.csv"), WRONG_INPUT, "No such command 'train'"),
    Case("no file to fit", command("fit"), WRONG_INPUT, "Missing argument"),
    Case("no target", command("fit t.csv"), WRONG_INPUT, "Missing option '--target'"),
    Case("an option that is none", fit("--treees 3"), WRONG_INPUT, "No such option"),
    Case("options of two families", fit("--trees 3 --rule uniform"), WRONG_INPUT, "--model bart"),
    Case("an option without its value", fit("--draws"), WRONG_INPUT, "requires an argument"),
    Case("a file too many", fit("u.csv"), WRONG_INPUT, "unexpected extra argument"),
    Case("wrong usage as JSON", command("fit --json"), WRONG_INPUT),
    Case("wrong input as JSON", fit("--draws 0 --json"), WRONG_INPUT),
    # ---- numbers --------------------------------------------------------------------------------------------------
    Case("no draws", fit("--draws 0"), WRONG_INPUT, "--draws 0: choose a whole number, 1 or more"),
    Case("negative draws", fit("--draws -5"), WRONG_INPUT, "--draws -5"),
    Case("draws in words", fit("--draws many"), WRONG_INPUT, "Invalid value for '--draws'"),
    Case("half a draw", fit("--draws 1.5"), WRONG_INPUT, "a valid integer"),
    Case("draws past 64 bits", fit("--draws 99999999999999999999"), WRONG_INPUT, "draws"),
    Case("draws past 32 bits", fit("--draws 3000000000"), WRONG_INPUT, "draws"),
    Case("no chains", fit("--chains 0"), WRONG_INPUT, "--chains 0"),
    Case("a negative warm-up", fit("--warmup -1"), WRONG_INPUT, "--warmup -1"),
    Case("no iterations between draws", fit("--thin 0"), WRONG_INPUT, "--thin 0"),
    Case("a negative seed", fit("--seed -1"), WRONG_INPUT, "--seed -1"),
    Case("a seed past 64 bits", fit(f"--seed {2**64}"), WRONG_INPUT, "--seed 18446744073709551616"),
    Case("no threads", fit("--threads 0"), WRONG_INPUT, "greater than or equal to 1"),
    Case("threads past 32 bits", fit("--threads 5000000000"), WRONG_INPUT, "threads"),
    Case("no temperatures", fit("--temperatures 0"), WRONG_INPUT, "--temperatures 0"),
    Case("a million temperatures", fit("--temperatures 1000000"), WRONG_INPUT, "to 4096"),
    Case("a time limit of zero", fit("--until-converged --time-limit 0"), WRONG_INPUT, "time"),
    Case("a time limit that is NaN", fit("--until-converged --time-limit nan"), WRONG_INPUT, "time"),
    Case("a negative time limit", fit("--until-converged --time-limit -3"), WRONG_INPUT, "time"),
    # ---- the data -------------------------------------------------------------------------------------------------
    Case("a task that is none", fit("--task cluster"), WRONG_INPUT, "'cluster' is not one of"),
    Case("a weight that is no column", fit("--weight w"), WRONG_INPUT, "no column 'w'"),
    Case("the target for a weight", fit("--weight y"), WRONG_INPUT, "cannot be both target and weight"),
    Case("negative weights", fit("--weight a"), WRONG_INPUT, "is negative"),
    Case("the target dropped", fit("--drop y"), WRONG_INPUT, "drop names 'y'"),
    Case("every column dropped", fit("--drop a --drop b"), WRONG_INPUT, "0 feature(s)"),
    Case("a categorical column that is not there", fit("--categorical c"), WRONG_INPUT, "no column 'c'"),
    Case("an offset that is no column", fit("--model bart --offset o"), WRONG_INPUT, "no column 'o'"),
    Case("an offset of a tree", fit("--model cart --offset a"), WRONG_INPUT, "--model bart"),
    Case("cuts in words", fit("--max-cuts many"), WRONG_INPUT, "max-cuts"),
    Case("no cuts", fit("--max-cuts 0"), WRONG_INPUT, "--max-cuts 0"),
    # ---- models ---------------------------------------------------------------------------------------------------
    Case("a family that is none", fit("--model forest"), WRONG_INPUT, "no model 'forest'"),
    Case("a family without commands", fit("--model hmdt"), WRONG_INPUT, "no model 'hmdt'"),
    Case("an alpha past 1", fit("--alpha 2"), WRONG_INPUT, "--alpha 2.0"),
    Case("an alpha that is NaN", fit("--alpha nan"), WRONG_INPUT, "--alpha nan"),
    Case("a negative beta", fit("--beta -1"), WRONG_INPUT, "--beta -1.0"),
    Case("no rows in a leaf", fit("--min-leaf 0"), WRONG_INPUT, "--min-leaf 0"),
    Case("a rule that is none", fit("--rule best"), WRONG_INPUT, "best"),
    Case("a proposal that is none", fit("--proposal gibbs"), WRONG_INPUT, "gibbs"),
    Case("a proposal of a weight in words", fit("--proposal uc=much"), WRONG_INPUT, "'much' is not a weight"),
    Case("a ladder that is none", fit("--ladder rope"), WRONG_INPUT, "'rope' is not one of"),
    Case("no trees", fit("--model bart --trees 0"), WRONG_INPUT, "--trees 0"),
    Case(
        "a hundred million trees",
        in_little_memory(fit("--model bart --trees 100000000")),
        WRONG_INPUT,
        "GB of memory, and there are 16.0 GB",
    ),
    Case(
        "a hundred million draws",
        in_little_memory(fit("--draws 100000000 --chains 4")),
        WRONG_INPUT,
        "GB of memory, and there are 16.0 GB",
    ),
    Case(
        "a hundred million draws of a sum",
        in_little_memory(fit("--model bart --draws 100000000 --chains 4")),
        WRONG_INPUT,
        "GB of memory, and there are 16.0 GB",
    ),
    Case(
        "a hundred million draws of subsets",
        in_little_memory(fit("--model subset --method sample --draws 100000000 --chains 4")),
        WRONG_INPUT,
        "GB of memory, and there are 16.0 GB",
    ),
    Case(
        "a hundred million draws of experts",
        in_little_memory(fit("--model hme --method gibbs --draws 100000000 --chains 4")),
        WRONG_INPUT,
        "GB of memory, and there are 16.0 GB",
    ),
    Case(
        "a billion chains",
        in_little_memory(fit("--chains 1000000000")),
        WRONG_INPUT,
        "GB of memory, and there are 16.0 GB",
    ),
    Case("noise that is negative", fit("--model bart --sigma -1"), WRONG_INPUT, "--sigma -1.0"),
    Case("a k in words", fit("--model bart --k much"), WRONG_INPUT, "--k much"),
    Case("trees of a constant variance", fit("--model bart --variance-trees 3"), WRONG_INPUT, "add that, or leave"),
    Case("a bandwidth of hard rules", fit("--model bart --bandwidth 1"), WRONG_INPUT, "add that, or leave"),
    Case("a temperature of sums", fit("--model bart --temperatures 4"), WRONG_INPUT, "not tempered"),
    Case("a tree to edit for sums", fit("--model bart --edit tree.txt"), WRONG_INPUT, "sums of trees have"),
    Case("a prior of models that is none", fit("--model subset --model-prior flat"), WRONG_INPUT, "flat"),
    Case("interactions of one column", fit("--model subset --interactions a"), WRONG_INPUT, "a"),
    Case("heredity without interactions, by another word", fit("--model subset --heredity any"), WRONG_INPUT, "any"),
    Case("coefficients that are none", fit("--model subset --coefficients lasso"), WRONG_INPUT, "lasso"),
    Case("a depth of experts past reason", fit("--model hme --depth 2147483647"), WRONG_INPUT, "countless leaves"),
    Case("an expert that is none", fit("--model hme --expert tree"), WRONG_INPUT, "tree"),
    Case(
        "counts that are negative",
        command("fit t.csv --target y --model hme --expert poisson", {"t.csv": GOOD}),
        WRONG_INPUT,
        "is for counts",
    ),
    # ---- knowledge ------------------------------------------------------------------------------------------------
    Case("a box without a side", fit("--box a"), WRONG_INPUT, "is no condition"),
    Case("a box of a column that is not there", fit("--box 'z<=1'"), WRONG_INPUT, "'z'"),
    Case("a column that grows by words", fit("--monotone a=up"), WRONG_INPUT, "up"),
    Case("a column that grows by nothing", fit("--monotone a="), WRONG_INPUT, "write a column and what holds of it"),
    Case("a group of nothing", fit("--interact ,"), WRONG_INPUT, "names no column"),
    Case("a depth of only in words", fit("--only root:a"), WRONG_INPUT, "write a depth and columns"),
    Case("a negative depth of a tree", fit("--max-depth -1"), WRONG_INPUT, "-1"),
    Case("every column forbidden", fit("--forbid a --forbid b"), WRONG_INPUT, "every column is forbidden"),
    Case("a weight of a column in words", fit("--column-weight a=heavy"), WRONG_INPUT, "heavy"),
    Case("knowledge that is no file", fit("--knowledge absent.toml"), BAD_FILE, "absent.toml: cannot be read"),
    Case("a program that is no file", fit("--prior absent.slp"), BAD_FILE, "absent.slp"),
    Case("a program with a rule", fit("--prior growtree.slp --rule uniform"), WRONG_INPUT, "rule"),
    Case("a tree to edit that is no file", fit("--edit absent.txt"), BAD_FILE, "absent.txt: cannot be read"),
    # ---- files to write -------------------------------------------------------------------------------------------
    Case("a model over a table", fit("--out t.csv"), WRONG_INPUT, "a model is not a table"),
    Case(
        "a model over a file that is none",
        command(f"fit t.csv --target y {QUICK} --out notes", {"t.csv": GOOD, "notes": "x"}),
        BAD_FILE,
        "exists and is not a model",
    ),
    Case("a model in a folder that is not there", fit("--out no/m.baytree"), BAD_FILE, "there is no folder no"),
    Case("a model in place of a folder", fit("--out ."), BAD_FILE, "this is a folder"),
    Case(
        "a run to resume that is not there", fit("--resume"), BAD_FILE, "there is no unfinished run m.baytree.partial"
    ),
    Case(
        "a run that is unfinished",
        command(
            f"fit t.csv --target y {QUICK} --out m.baytree", {"t.csv": GOOD, "m.baytree.partial": model_file("cart")}
        ),
        BAD_FILE,
        "finish it with --resume",
    ),
    Case(
        "a run to resume that is no model",
        command(
            f"fit t.csv --target y {QUICK} --out m.baytree --resume",
            {"t.csv": GOOD, "m.baytree.partial": b"SQLite format 3\0" + bytes(range(256))},
        ),
        BAD_FILE,
        "m.baytree.partial",
    ),
    # ---- prior ----------------------------------------------------------------------------------------------------
    Case("no trees of a prior", prior("--draws 0"), WRONG_INPUT, "--draws 0"),
    Case(
        "a hundred billion trees of a prior",
        prior("--draws 100000000000"),
        WRONG_INPUT,
        "would take about 10,000.0 GB of memory",
    ),
    Case("less than no trees to show", prior("--trees -1"), WRONG_INPUT, "Invalid value for '--trees'"),
    Case("a prior of no table", command("prior absent.csv --target y"), BAD_FILE, "no such file"),
    # ---- predict --------------------------------------------------------------------------------------------------
    Case("a model that is none", command("predict t.csv t.csv", {"t.csv": GOOD}), BAD_FILE, "t.csv"),
    Case("no model", command("predict absent.baytree t.csv", {"t.csv": GOOD}), BAD_FILE, "absent.baytree"),
    Case(
        "no table to predict",
        command("predict m.baytree absent.csv", {"m.baytree": model_file("cart")}),
        BAD_FILE,
        "absent.csv: no such file",
    ),
    Case("a table without a column", predict("cart", "", "x0\n1\n"), WRONG_INPUT, "no column 'x1'"),
    Case("a table of no rows, by a tree", predict("cart", "", "x0,x1\n")),
    Case("a table of no rows, by a sum of trees", predict("bart", "--offset o", "x0,x1,o\n")),
    Case("a table of no rows, by experts", predict("hme", "", "x0,x1\n")),
    Case("a table of no rows, by chains of experts", predict("gibbs", "", "x0,x1\n")),
    Case("a table of no rows, by linear models", predict("subset", "", "x0,x1\n")),
    Case("a table of no rows, by classes", predict("classes", "", "x0,x1\n")),
    Case("draws of no rows", predict("gibbs", "--kind draws", "x0,x1\n")),
    Case(
        "text for numbers", predict("cart", "", "x0,x1\nlow,high\n"), WRONG_INPUT, "is text, but the column is numeric"
    ),
    Case("an infinite number", predict("cart", "", "x0,x1\ninf,1\n"), WRONG_INPUT, "infinite value"),
    Case(
        "the end of the floats, by experts",
        predict("hme", "", "x0,x1\n1e308,1e308\n"),
        WRONG_INPUT,
        "too large for float64",
    ),
    Case("a kind that is none", predict("cart", "--kind median"), WRONG_INPUT, "median"),
    Case(
        "a kind of numbers, of classes",
        predict("classes", "--kind predictive_interval"),
        WRONG_INPUT,
        "predictive_interval",
    ),
    Case("intervals of one tree of experts", predict("hme", "--kind interval"), WRONG_INPUT, "no error bars"),
    Case("a probability of 1", predict("cart", "--prob 1"), WRONG_INPUT, "--prob 1"),
    Case("a probability of 90", predict("cart", "--prob 90"), WRONG_INPUT, "between 0 and 1"),
    Case("a probability that is NaN", predict("cart", "--prob nan"), WRONG_INPUT, "--prob nan"),
    Case("an offset left out", predict("bart", ""), WRONG_INPUT, "new rows need theirs"),
    Case("an offset that is not there", predict("bart", "--offset o"), WRONG_INPUT, "no column 'o'"),
    Case("an offset for a tree", predict("cart", "--offset o"), WRONG_INPUT, "offset"),
    Case("predictions over the model", predict("cart", "--out m.baytree"), WRONG_INPUT, "the name must end in"),
    Case(
        "predictions over the table", predict("cart", "--out n.csv"), WRONG_INPUT, "would replace the file that is read"
    ),
    Case("predictions of a name that is none", predict("cart", "--out p.xlsx"), WRONG_INPUT, "the name must end in"),
    Case(
        "predictions in a folder that is not there",
        predict("cart", "--out no/p.csv"),
        BAD_FILE,
        "there is no folder no",
    ),
    Case("predictions into a folder", predict("cart", "--out p.csv/p.csv"), BAD_FILE, "there is no folder p.csv"),
    # ---- show, data, slp, reproduce -------------------------------------------------------------------------------
    Case("a tree that is not there", show("bart", "--tree 0,0,99"), WRONG_INPUT, "from 0,0,0 to 0,2,2"),
    Case("a tree in words", show("bart", "--tree first"), WRONG_INPUT, "give a chain, a draw and a tree"),
    Case("a tree of superscripts", show("bart", "--tree ²,0,0"), WRONG_INPUT, "give a chain, a draw and a tree"),
    Case("less than no trees", show("cart", "--trees -1"), WRONG_INPUT, "greater than or equal to 0"),
    Case("a model that is a folder", command("show .", {}), BAD_FILE, ""),
    Case("a data set that is none", command("data iris"), WRONG_INPUT, "no data set 'iris'"),
    Case("a data set of another ending", command("data kyphosis --out k.tsv"), WRONG_INPUT, "end the name in .csv"),
    Case("a data set without its name", command("data --out k.csv"), WRONG_INPUT, "say which data set"),
    Case("a program to check that is none", command("slp check absent.slp"), BAD_FILE, "absent.slp"),
    Case("a program to check of bytes", command("slp check p.slp", {"p.slp": b"\xff\xfe\x00"}), BAD_FILE, "UTF-8"),
    Case("no models to draw", command("slp sample growtree.slp 'cart(T)' -n 0"), WRONG_INPUT, "-n 0"),
    Case(
        "a goal that is none", command('slp sample p.slp "q("', {"p.slp": "p(a).\n"}), WRONG_INPUT, "a term is missing"
    ),
    Case("a goal that nothing defines", command("slp sample p.slp 'q(X)'", {"p.slp": "p(a).\n"}), WRONG_INPUT, "q/1"),
    Case(
        "a table without its target",
        command("slp sample growtree.slp 'cart(T)' --data t.csv", {"t.csv": GOOD}),
        WRONG_INPUT,
        "belong together",
    ),
    Case(
        "a proof into a picture of no kind",
        command("slp proof p.slp 'p(X)' --out p.png", {"p.slp": "p(a).\n"}),
        WRONG_INPUT,
        "p.png",
    ),
    Case(
        "a program copied over a file",
        command("slp copy growtree.slp t.csv", {"t.csv": GOOD}),
        BAD_FILE,
        "t.csv: exists",
    ),
    Case(
        "a shipped program that is none", command("slp copy forest.slp f.slp"), WRONG_INPUT, "no program 'forest.slp'"
    ),
    Case(
        "semantics that are none",
        command("slp explain growtree.slp --semantics lazy"),
        WRONG_INPUT,
        "'lazy' is not one of",
    ),
    Case("a study that is none", command("reproduce everything"), WRONG_INPUT, "No such command"),
    Case(
        "a study of a negative seed",
        command("reproduce boxes --quick --seed -1"),
        WRONG_INPUT,
        "Invalid value for '--seed'",
    ),
]
