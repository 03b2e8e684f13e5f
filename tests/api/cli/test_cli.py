"""The command line: what it prints, writes and exits with."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import baytree as bt
from api.cli.commands import BAYTREE, failure, invoke
from baytree.cli.spoken import spoken
from baytree.storage import open_model, partial_path

QUICK = ["--chains", "2", "--draws", "60", "--warmup", "40", "--seed", "7"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of classes, one of numbers, and a model of each."""
    folder = tmp_path_factory.mktemp("cli")
    cancer = bt.datasets.load("breast_cancer")
    cancer.X.with_columns(pl.Series("class", cancer.y)).head(200).write_csv(folder / "cancer.csv")
    friedman = bt.datasets.friedman(n=120)
    kind = np.where(friedman.X["x1"].to_numpy() > 0.5, "007", "08")
    friedman.X.with_columns(pl.Series("kind", kind), pl.Series("y", friedman.y)).write_csv(folder / "friedman.csv")
    invoke(
        "fit", folder / "cancer.csv", "--target", "class", "--model", "cart", *QUICK, "--out", folder / "cancer.baytree"
    )
    invoke("fit", folder / "friedman.csv", "--target", "y", *QUICK, "--out", folder / "friedman.baytree",
           "--categorical", "kind", "--model", "cart")  # fmt: skip
    return folder


# ---- help and version -----------------------------------------------------------------------------------------------


def test_version() -> None:
    assert invoke("--version").stdout == f"baytree {bt.__version__}\n"


def test_help_names_commands_and_exit_codes() -> None:
    text = invoke("--help").stdout
    for word in ("fit", "predict", "show", "data", "Exit codes", "130"):
        assert word in text


def test_help_does_not_wait_for_heavy_imports() -> None:
    script = (
        "import sys; from typer.testing import CliRunner; from baytree.cli import app; "
        "assert CliRunner().invoke(app, ['fit', '--help']).exit_code == 0; "
        "print([m for m in ('sklearn', 'polars', 'pandas', 'pyarrow', 'arviz_stats', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ---- fit ------------------------------------------------------------------------------------------------------------


def test_fit_tells_what_it_read_learned_and_wrote() -> None:
    text = invoke("fit", "cancer.csv", "--target", "class", *QUICK, "--out", "told.baytree").stdout
    assert "Read cancer.csv: 200 rows, 9 columns" in text
    assert "Response 'class' (classification): benign" in text
    assert "2 chains × 60 draws" in text and "seed 7" in text
    assert "Model written to told.baytree" in text
    assert "baytree show told.baytree" in text
    assert "\x1b" not in text
    assert bt.load("told.baytree").draws == 60


def test_fit_offers_a_longer_run_that_can_be_pasted() -> None:
    text = invoke("fit", "cancer.csv", "--target", "class", "--drop", "mitoses", "--seed", "7", "--draws", "20",
                  "--warmup", "0", "--out", "longer.baytree").stdout  # fmt: skip
    [longer] = [shlex.split(line, comments=True) for line in text.splitlines() if "baytree fit" in line]
    assert longer[-2:] == ["--effort", "default"]
    invoke(*longer[1:-1], "0.2")
    posterior = bt.load("longer.baytree")
    assert posterior.settings.thin > 1 and (posterior.draws, posterior.settings.seed) == (20, 7)
    assert "mitoses" not in posterior.schema.names


def test_fit_equals_the_python_api() -> None:
    invoke("fit", "friedman.csv", "--target", "y", "--task", "regression", "--chains", 2, "--draws", 50, "--warmup", 30,
           "--thin", 2, "--seed", 3, "--alpha", 0.8, "--beta", 0.5, "--min-leaf", 4, "--rule", "uniform",
           "--proposal", "uc=2,change=1", "--max-cuts", "all", "--weight", "x6", "--categorical", "kind",
           "--drop", "x7", "--drop", "x8", "--threads", 1, "--out", "options.baytree")  # fmt: skip
    design = bt.read(
        "friedman.csv", "y", task="regression", weight="x6", categorical="kind", drop=["x7", "x8"], max_cuts=None
    )
    model = bt.CART(bt.GrowTree(0.8, 0.5, 4, "uniform"), proposal={"uc": 2, "change": 1})
    expected = bt.sample(model, design, chains=2, draws=50, warmup=30, thin=2, seed=3, progress=False)
    found = bt.load("options.baytree")
    assert np.array_equal(found.log_likelihood, expected.log_likelihood)
    assert found.settings == expected.settings
    assert found.model == expected.model


def test_fit_writes_into_the_current_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    invoke("fit", folder / "cancer.csv", "--target", "class", *QUICK, "--quiet")
    assert [path.name for path in tmp_path.iterdir()] == ["cancer.baytree"]


def test_fit_quiet_says_nothing() -> None:
    result = invoke("fit", "cancer.csv", "--target", "class", *QUICK, "--quiet", "--out", "quiet.baytree")
    assert result.output == ""


def test_fit_passes_warnings_on_as_notes() -> None:
    frame = pl.DataFrame({"many": [f"level {i // 2}" for i in range(200)], "y": [i % 7 for i in range(200)]})
    frame.write_csv("many.csv")
    result = invoke("fit", "many.csv", "--target", "y", *QUICK)
    assert "baytree: note: column 'many' has 100 levels" in result.stderr
    [note, _] = json.loads(invoke("fit", "many.csv", "--target", "y", *QUICK, "--json").stdout)["notes"]
    assert "100 levels" in note


# ---- predict --------------------------------------------------------------------------------------------------------


def test_predict_classes() -> None:
    text = invoke("predict", "cancer.baytree", "cancer.csv").stdout
    found = pl.read_csv(text.encode())
    expected = bt.load("cancer.baytree").predict("cancer.csv")
    assert found.columns == ["prediction", "P(benign)", "P(malignant)"]
    assert np.array_equal(found.drop("prediction").to_numpy(), expected)
    assert found["prediction"].to_list() == np.array(["benign", "malignant"])[expected.argmax(axis=1)].tolist()


@pytest.mark.parametrize(
    ("name", "reader"),
    [("p.csv", pl.read_csv), ("p.tsv", lambda path: pl.read_csv(path, separator="\t")), ("p.parquet", pl.read_parquet)],
)
def test_predict_writes_files(name: str, reader: Callable[[str], pl.DataFrame]) -> None:
    text = invoke("predict", "cancer.baytree", "cancer.csv", "--out", name).stdout
    assert text == f"200 predictions written to {name}\n"
    assert reader(name).equals(pl.read_csv(invoke("predict", "cancer.baytree", "cancer.csv").stdout.encode()))


def test_predict_json() -> None:
    record = json.loads(invoke("predict", "cancer.baytree", "cancer.csv", "--json").stdout)
    assert record["rows"] == len(record["predictions"]) == 200
    assert set(record["predictions"][0]) == {"prediction", "P(benign)", "P(malignant)"}
    record = json.loads(invoke("predict", "cancer.baytree", "cancer.csv", "--json", "--out", "json.csv").stdout)
    assert record == {"rows": 200, "out": "json.csv"}


@pytest.mark.parametrize("name", ["cancer", "friedman"])
def test_predict_no_rows(name: str) -> None:
    Path("header.csv").write_text(Path(f"{name}.csv").read_text().splitlines()[0] + "\n")
    assert len(invoke("predict", f"{name}.baytree", "header.csv").stdout.splitlines()) == 1


# ---- show -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cancer", "friedman"])
def test_show_draws_the_best_tree_and_the_verdict(name: str) -> None:
    text = invoke("show", f"{name}.baytree").stdout
    posterior = bt.load(f"{name}.baytree")
    best = posterior.best_tree().to_text().splitlines()
    assert "\n".join(f"  {line}" for line in best) in text
    assert spoken(posterior.summary().verdict) in text
    assert "The trees drawn most often" in text and "in each chain" in text
    assert "\x1b" not in text


def test_show_lists_as_many_trees_as_asked() -> None:
    record = json.loads(invoke("show", "cancer.baytree", "--json", "--trees", "2").stdout)
    posterior = bt.load("cancer.baytree")
    assert record["best_tree"] == posterior.best_tree().to_dict()
    listed, expected = record["trees"], posterior.top_trees(2)
    assert [tree["probability"] for tree in listed] == [top.probability for top in expected]
    assert [tree["per_chain"] for tree in listed] == [top.per_chain.tolist() for top in expected]
    assert [tree["tree"] for tree in listed] == [top.tree.to_dict() for top in expected]
    assert "most probable" not in invoke("show", "cancer.baytree", "--trees", "0").stdout


def test_show_says_whether_the_chains_agree_without_the_data() -> None:
    found = bt.load("cancer.baytree").diagnostics()
    assert found.predictions.rows > 20
    text = invoke("show", "cancer.baytree").stdout
    assert f"predictions {found.predictions.rhat_text}" in " ".join(text.split())
    for remark in found.warnings():
        assert remark in text
    record = json.loads(invoke("show", "cancer.baytree", "--json").stdout)
    assert record["diagnostics"] == found.to_dict()
    assert record["agree"] == found.agree
    assert "✔" in text if found.agree else "! " in text


def test_fit_says_by_which_command_to_go_on() -> None:
    arguments = ["fit", "cancer.csv", "--target", "class", *QUICK, "--out", "again.baytree"]
    remedies = json.loads(invoke(*arguments, "--json").stdout)["remedies"]
    assert remedies
    text = invoke(*arguments).stdout
    for remedy in remedies:
        options = " ".join(f"--{name} {value}" for name, value in remedy["options"].items())
        assert f"{options}  # {spoken(remedy['what'])}" in text


def test_colours_only_where_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    assert "\x1b" not in invoke("show", "cancer.baytree").stdout
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert colour.search(invoke("show", "cancer.baytree").stdout)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.search(invoke("show", "cancer.baytree").stdout)


def test_names_are_never_taken_for_markup() -> None:
    x = np.arange(40)
    pl.DataFrame({"[red]x": x, ":smile:": x[::-1], "[/]y": np.where(x < 20, "[bold]", ":heart:")}).write_csv("odd.csv")
    text = invoke("fit", "odd.csv", "--target", "[/]y", *QUICK).stdout + invoke("show", "odd.baytree").stdout
    for name in ("[red]x", ":smile:", "[/]y", "[bold]", ":heart:"):
        assert name in text


# ---- data -----------------------------------------------------------------------------------------------------------


def test_data_lists_every_set() -> None:
    text = invoke("data").stdout
    for name in bt.datasets.names():
        assert bt.datasets.load(name).title in text
        assert name in text


@pytest.mark.parametrize("name", bt.datasets.names())
def test_data_describes_a_set(name: str) -> None:
    text = invoke("data", name).stdout
    dataset = bt.datasets.load(name)
    assert dataset.source in text
    assert dataset.caution in text
    assert f"baytree data {name} --out {name}.csv" in text


@pytest.mark.parametrize("name", ["heart", "waveform", "robot_arm"])
def test_data_writes_a_file_that_fit_reads_as_the_set_is_meant(name: str) -> None:
    text = invoke("data", name, "--out", f"{name}.csv").stdout
    [line] = [line for line in text.splitlines() if "baytree fit" in line]
    words = shlex.split(line, comments=True)[1:]
    record = json.loads(invoke(*words, "--draws", "1", "--warmup", "0", "--chains", "1", "--json").stdout)
    design = bt.datasets.load(name).design()
    assert (record["rows"], record["columns"]) == (design.rows, len(design.columns))
    assert record["task"] == ("regression" if design.classes is None else "classification")
    assert bt.load(f"{name}.baytree").schema == design.schema


def test_data_json() -> None:
    listed = json.loads(invoke("data", "--json").stdout)["datasets"]
    assert [record["name"] for record in listed] == list(bt.datasets.names())
    for record in listed:
        dataset = bt.datasets.load(record["name"])
        full = json.loads(invoke("data", dataset.name, "--json").stdout)
        assert record.items() <= full.items()
        assert (full["rows"], full["columns"]) == dataset.X.shape
        assert (full["title"], full["response"]) == (dataset.title, dataset.target)
        assert (full["source"], full["caution"]) == (dataset.source, dataset.caution)
        assert full["column_names"] == dataset.X.columns
        assert set(dataset.categorical) <= set(full["categorical"])
    written = json.loads(invoke("data", "boston", "--json", "--out", "b.csv").stdout)
    assert (written["out"], written["notes"]) == ("b.csv", [written["caution"]])
    assert pl.read_csv("b.csv").height == written["rows"]
    assert "Did you mean" in json.loads(invoke("data", "kiphosis", "--json", code=2).stderr)["error"]


def test_one_is_not_plural() -> None:
    single = ["--chains", "1", "--draws", "1", "--warmup", "0", "--seed", "1", "--out", "single.baytree"]
    text = invoke("fit", "cancer.csv", "--target", "class", *single).stdout
    text += invoke("show", "single.baytree").stdout + str(bt.load("single.baytree").summary())
    assert text.count("1 chain × 1 draw ") == 3


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_wrong_column() -> None:
    message = failure("fit", "cancer.csv", "--target", "clss", "--out", "new.baytree", code=2)
    assert "Did you mean 'class'?" in message
    assert not Path("new.baytree").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--alpha", "2"], "--alpha 2.0"),
        (["--draws", "0"], "--draws 0"),
        (["--chains", "0"], "--chains 0"),
        (["--thin", "0"], "--thin 0"),
        (["--warmup", "-1"], "--warmup -1"),
        (["--proposal", "birth_deth"], "Did you mean 'birth_death'?"),
        (["--max-cuts", "many"], "--max-cuts many"),
        (["--max-cuts", "0"], "--max-cuts 0"),
        (["--seed", "-1"], "--seed -1"),
        (["--seed", str(2**64)], f"--seed {2**64}"),
        (["--task", "regression"], "must be numbers"),
        (["--drop", "clump_thick"], "Did you mean 'clump_thickness'?"),
    ],
)
def test_wrong_options(options: list[str], said: str) -> None:
    assert said in failure("fit", "cancer.csv", "--target", "class", "-q", "--out", "new.baytree", *options, code=2)
    assert not Path("new.baytree").exists()


@pytest.mark.parametrize("option", ["--chains", "--draws", "--thin", "--warmup", "--seed"])
def test_options_are_checked_before_the_table_is_read(option: str) -> None:
    Path("unreadable.csv").write_bytes(b"")
    assert f"{option} -1" in failure("fit", "unreadable.csv", "--target", "y", option, "-1", code=2)


@pytest.mark.parametrize(
    "arguments", [["fit"], ["fit", "cancer.csv"], ["nothing"], ["fit", "x.csv", "--modle", "cart"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    assert invoke(*arguments, code=2).stdout == ""


def test_errors_as_json() -> None:
    result = invoke("fit", "cancer.csv", "--target", "clss", "--json", code=2)
    assert result.stdout == ""
    assert "Did you mean 'class'?" in json.loads(result.stderr)["error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "cancer.csv"], "--target"),
        (["fit", "cancer.csv", "--target", "class", "--draws", "x"], "--draws"),
        (["show", "cancer.baytree", "--tres", "2"], "--tres"),
        (["slp", "check"], "FILE"),
        (["nothing"], "nothing"),
        ([], "--json"),
    ],
)
def test_wrong_usage_as_json(arguments: list[str], said: str) -> None:
    result = invoke(*arguments, "--json", code=2)
    assert result.stdout == ""
    assert said in json.loads(result.stderr)["error"]
    done = subprocess.run([*BAYTREE, *arguments, "--json"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", result.stderr)


def test_missing_files() -> None:
    assert "no such file" in failure("fit", "nowhere.csv", "--target", "y", code=3)
    assert "no such file" in failure("show", "nowhere.baytree", code=3)
    assert "no such file" in failure("predict", "nowhere.baytree", "cancer.csv", code=3)
    assert "no such file" in failure("predict", "cancer.baytree", "nowhere.csv", code=3)


@pytest.mark.parametrize("file", ["breast_cancer", "breast_cancer.csv"])
def test_a_bundled_name_in_place_of_a_file(file: str) -> None:
    message = failure("fit", file, "--target", "class", code=3)
    assert "baytree data breast_cancer --out breast_cancer.csv" in message


def test_unknown_data_set() -> None:
    assert "Did you mean 'kyphosis'?" in failure("data", "kiphosis", code=2)
    assert "say which" in failure("data", "--out", "x.csv", code=2)
    assert "end the name in .csv" in failure("data", "heart", "--out", "heart.xlsx", code=2)
    assert "heart.csv" in failure("data", "heart", "--out", "no/folder/heart.csv", code=3)


def test_damaged_and_foreign_models() -> None:
    whole = Path("cancer.baytree").read_bytes()
    Path("short.baytree").write_bytes(whole[: len(whole) // 2])
    Path("changed.baytree").write_bytes(whole[:-5000] + bytes(5000))
    Path("text.baytree").write_text("not a model")
    for name in ("short", "changed", "text"):
        assert f"{name}.baytree" in failure("show", f"{name}.baytree", code=3)
        assert f"{name}.baytree" in failure("predict", f"{name}.baytree", "cancer.csv", code=3)
    assert "not a baytree model" in failure("show", "cancer.csv", code=3)


def test_missing_column_in_new_rows() -> None:
    pl.read_csv("cancer.csv").rename({"cell_size": "cell_sise"}).write_csv("renamed.csv")
    message = failure("predict", "cancer.baytree", "renamed.csv", code=2)
    assert "no column 'cell_size'. Did you mean 'cell_sise'?" in message


def test_nothing_but_a_model_is_replaced() -> None:
    before = Path("cancer.csv").read_bytes()
    Path("notes.txt").write_text("of mine")
    assert "not a model" in failure("fit", "cancer.csv", "--target", "class", "--out", "notes.txt", code=3)
    for name in ("cancer.csv", "new.tsv", "new.CSV", "new.parquet", "new.csv.gz"):
        assert "ends in .baytree" in failure("fit", "cancer.csv", "--target", "class", "--out", name, code=2)
    assert "folder" in failure("fit", "cancer.csv", "--target", "class", "--out", ".", code=3)
    assert "replace" in failure("predict", "cancer.baytree", "cancer.csv", "--out", "cancer.csv", code=2)
    assert "must end in" in failure("predict", "cancer.baytree", "cancer.csv", "--out", "cancer.baytree", code=2)
    assert Path("cancer.csv").read_bytes() == before


def test_places_that_cannot_be_written() -> None:
    assert "no/m.baytree" in failure("fit", "cancer.csv", "--target", "class", "-q", "--out", "no/m.baytree", code=3)
    message = failure("predict", "nowhere.baytree", "cancer.csv", "--out", "no/p.csv", code=3)
    assert "--out no/p.csv: there is no folder no" in message
    assert "--prob 90" in failure("predict", "cancer.baytree", "cancer.csv", "--prob", "90", code=2)


@pytest.mark.parametrize(
    "arguments", [["show", "cancer.baytree"], ["predict", "cancer.baytree", "cancer.csv"], ["data"]]
)
def test_a_closed_pipe_ends_in_peace(arguments: list[str]) -> None:
    with subprocess.Popen([*BAYTREE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_closed_pipe_does_not_keep_fit_from_its_work() -> None:
    command = [*BAYTREE, "fit", "cancer.csv", "--target", "class", *QUICK, "--out", "piped.baytree"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 0
    assert bt.load("piped.baytree").draws == 60


# ---- killed and interrupted -----------------------------------------------------------------------------------------

LONG = ["fit", "cancer.csv", "--target", "class", "--chains", "2", "--seed", "5", "--thin", "10"]
# The same program with checkpoints often enough for a test to wait for one.
OFTEN = "import baytree.sampling.run as s; s.CHECKPOINT_SECONDS = 0.3; from baytree.cli import main; main()"


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OFTEN, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(phase: str, out: str, process: subprocess.Popen[str], beyond: int = 0) -> int:
    """Return how far the run is just after a checkpoint of this phase, ``"warmed"`` or ``"drawn"``, beyond a number."""
    for _ in range(1000):
        assert process.poll() is None, process.communicate()
        if partial_path(out).exists():
            try:
                with open_model(partial_path(out)) as reader:
                    reached = max((state[phase] for state in reader.states), default=0)
                if reached > beyond:
                    return reached
            except bt.FileError:
                pass
        time.sleep(0.02)
    raise AssertionError("no checkpoint")


def test_an_unfinished_run_is_not_replaced() -> None:
    partial_path("again.baytree").write_bytes(b"unfinished")
    Path("unreadable.csv").write_bytes(b"")
    message = failure("fit", "unreadable.csv", "--target", "class", *QUICK, "--out", "again.baytree", code=3)
    assert message == ("again.baytree.partial: an unfinished run is there; finish it with --resume, or remove the file")
    assert partial_path("again.baytree").read_bytes() == b"unfinished"


def test_interrupted_draws_are_kept() -> None:
    process = start(*LONG, "--draws", "1000000", "--warmup", "100", "--out", "kept.baytree")
    wait_for("drawn", "kept.baytree", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "baytree: note: sampling was interrupted" in err
    assert "Traceback" not in err
    assert "Model written to kept.baytree" in out
    assert 0 < bt.load("kept.baytree").draws < 1_000_000


@pytest.mark.parametrize("flags", [(), ("--quiet",), ("--json",)])
def test_an_interrupted_warmup_can_be_resumed(flags: tuple[str, ...]) -> None:
    process = start(*LONG, "--warmup", "100000000", "--out", "warming.baytree", *flags)
    wait_for("warmed", "warming.baytree", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    message = json.loads(err)["error"] if "--json" in flags else err.splitlines()[-1].removeprefix("baytree: ")
    assert message.startswith("sampling was interrupted")
    command = message.partition("; to go on: baytree ")[2]
    assert not Path("warming.baytree").exists()

    with open_model(partial_path("warming.baytree")) as reader:
        before = reader.states[0]["warmed"]
    again = start(*shlex.split(command))
    wait_for("warmed", "warming.baytree", again, beyond=before)
    again.send_signal(signal.SIGINT)
    _, err = again.communicate(timeout=20)
    assert again.returncode == 130
    assert command in err
    partial_path("warming.baytree").unlink()
