"""A Dask cluster that works for this program: connected, and of the same version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 20


def connected(address: str) -> Client:
    """A client of a scheduler with workers of the same txop.

    Raises:
        UserError: the cluster cannot be reached, has no worker, or has another version of txop.
    """
    client = _client(address)
    try:
        _check(client, address)
    except BaseException:
        client.close()
        raise
    return client


def _client(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            "--cluster needs Dask's distributed scheduler",
            what_to_do='install it beside txop, here and on the workers: pip install "txop[cluster]"',
            exit_code=ExitCode.MISSING,
        ) from None
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UserError(
            f"no scheduler answers: {error}"[:300],
            where=address,
            what_to_do="start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`",
            exit_code=ExitCode.MISSING,
        ) from None


def _check(client: Client, address: str) -> None:
    from txop.core.version import program_version

    try:
        versions = client.run(_version)
    except ModuleNotFoundError as error:
        raise UserError(f"a worker lacks txop: {error}", where=address, exit_code=ExitCode.MISSING) from None
    if not versions:
        raise UserError("the cluster has no worker", where=address, what_to_do="dask worker ADDRESS --nthreads 1",
                        exit_code=ExitCode.MISSING)  # fmt: skip
    other = {worker: version for worker, version in versions.items() if version != program_version()}
    if other:
        worker, version = next(iter(other.items()))
        raise UserError(f"worker {worker} has txop {version}, and this is {program_version()}", where=address)


def _version() -> str:
    from txop.core.version import program_version

    return program_version()
