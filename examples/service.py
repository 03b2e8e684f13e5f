"""A prediction service: one model file in memory, asked over HTTP by many at once.

    BAYTREE_MODEL=kyphosis.baytree uvicorn --app-dir examples service:app

A request is a list of rows: [{"age": 18, "number": 5, "start": 9}, …]. It needs pip install fastapi uvicorn.
"""

import os
from typing import Annotated, Any

import polars as pl
from fastapi import Body, FastAPI, HTTPException

import baytree as bt

posterior = bt.load(os.environ["BAYTREE_MODEL"])
app = FastAPI(title=f"Predictions of {posterior.schema.response.name}")
Rows = Annotated[list[dict[str, Any]], Body(min_length=1, max_length=10_000)]


# Not async: every request has a thread of its own, and predicting leaves the interpreter to the others.
@app.post("/predict")
def predict(rows: Rows, prob: float = 0.9) -> dict[str, Any]:
    try:
        table = pl.from_dicts(rows, infer_schema_length=None)
        found = posterior.predict(table, ("mean", "interval"), prob)
    except (bt.InputError, TypeError, pl.exceptions.PolarsError) as error:
        raise HTTPException(422, str(error)) from error
    classes = posterior.schema.response.classes
    named = {} if classes is None else {"classes": classes.tolist()}
    return named | {kind: values.tolist() for kind, values in found.items()}
