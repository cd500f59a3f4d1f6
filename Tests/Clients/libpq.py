"""Asks PostgreSQL through libpq: a psql for each of thousands of statements costs more than the statements."""

import ctypes
import functools
import select
import subprocess
import sys
import time

# What libpq says of a connection and of a result.
CONNECTED = 0
FAILURES = {5, 7}

NOTICE_RECEIVER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
ignore_notices = NOTICE_RECEIVER(lambda _, __: None)


@functools.cache
def libpq():
    folder = subprocess.check_output(["pg_config", "--libdir"], text=True).strip()
    library = ctypes.CDLL(f"{folder}/libpq.{'5.dylib' if sys.platform == 'darwin' else 'so.5'}")
    for name in ["PQconnectdb", "PQgetResult", "PQsetNoticeReceiver"]:
        getattr(library, name).restype = ctypes.c_void_p
    for name in ["PQerrorMessage", "PQresultErrorMessage", "PQgetvalue"]:
        getattr(library, name).restype = ctypes.c_char_p
    return library


class Connection:
    """A connection to a database. A failure is a RuntimeError."""

    def __init__(self, url: str):
        self._it = ctypes.c_void_p(libpq().PQconnectdb(url.encode()))
        libpq().PQsetNoticeReceiver(self._it, ignore_notices, None)
        if not self.is_open():
            problem = self._problem()
            self.close()
            raise RuntimeError(problem)

    def is_open(self) -> bool:
        return libpq().PQstatus(self._it) == CONNECTED

    def close(self) -> None:
        libpq().PQfinish(self._it)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def execute(self, statements: str, seconds: float) -> str:
        """The rows of all of the statements: a line each, with | between the columns and nothing for null."""
        if not libpq().PQsendQuery(self._it, statements.encode()):
            raise RuntimeError(self._problem())
        deadline = time.monotonic() + seconds
        lines, problem = [], None
        while result := self._next_result(deadline):
            if libpq().PQresultStatus(result) in FAILURES:
                problem = libpq().PQresultErrorMessage(result).decode().strip()
            columns = range(libpq().PQnfields(result))
            for row in range(libpq().PQntuples(result)):
                lines.append("|".join(libpq().PQgetvalue(result, row, column).decode() for column in columns))
            libpq().PQclear(result)
        if problem:
            raise RuntimeError(problem)
        return "\n".join(lines)

    def _next_result(self, deadline: float):
        while libpq().PQisBusy(self._it):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([libpq().PQsocket(self._it)], [], [], left)[0]:
                raise TimeoutError("PostgreSQL does not answer")
            if not libpq().PQconsumeInput(self._it):
                raise RuntimeError(self._problem())
        result = libpq().PQgetResult(self._it)
        return result and ctypes.c_void_p(result)

    def _problem(self) -> str:
        return libpq().PQerrorMessage(self._it).decode().strip()
