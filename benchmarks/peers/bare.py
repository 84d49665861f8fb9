"""A bare endpoint: FastAPI takes an answer and writes it to SQLite in a durable transaction of its own.

Run by benchmarks/field.py: python bare.py PORT FOLDER
"""

from __future__ import annotations

import json
import sqlite3
import sys

import uvicorn
from fastapi import FastAPI, Request


def application(path: str) -> FastAPI:
    """The endpoint, with one connection to one table."""
    app = FastAPI()
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE answer (key TEXT PRIMARY KEY, trial TEXT, response TEXT, rt REAL)")

    @app.get("/healthz")
    async def healthy() -> dict[str, bool]:
        return {"ok": True}

    @app.post("/answers")
    async def answers(request: Request) -> dict[str, list[str]]:
        answer = json.loads(await request.body())["answers"][0]
        row = (answer["key"], answer["trial"], answer["response"], answer["rt"])
        connection.execute("INSERT INTO answer VALUES (?, ?, ?, ?)", row)
        return {"saved": [answer["key"]]}

    return app


if __name__ == "__main__":
    served = application(f"{sys.argv[2]}/bare.db")
    uvicorn.run(served, port=int(sys.argv[1]), log_level="warning", access_log=False, loop="uvloop", http="httptools")
