"""Hugging Face: one dataset for each study, in which a release is one commit.

``huggingface_hub`` is an extra (``make install-hub``), because it draws in 30 MB that nothing else needs.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from analysis.errors import BadInput
from experiments.operation.job_runner import IOFailure
from releases.publishing.repository import (
    Advance,
    Deposit,
    LocalFile,
    Order,
    Refused,
    Repository,
    refusal,
    without_token,
)

OF_THE_HUB = {".gitattributes"}  # files that each new dataset has
CARD = "README.md"  # the hub's form for new datasets may write one


class HuggingFace(Repository):
    """Datasets of the hub: private until they are made public."""

    label = "Hugging Face"

    def __init__(self, token: str, url: str) -> None:
        super().__init__(token, url)
        if find_spec("huggingface_hub") is None:
            raise BadInput(
                "publishing on Hugging Face needs the package huggingface_hub, which is not installed.",
                remedy="Run “make install-hub” on the server, and restart it.",
            )
        from huggingface_hub import HfApi

        self.api = HfApi(endpoint=self.url, token=token)

    def user_name(self) -> str:
        """The name of the account."""
        with self._answers():
            return str(self.api.whoami().get("name", ""))

    def find_or_create(self, order: Order) -> Deposit:
        """The dataset, created private; one that holds something else is refused."""
        info = self._info(order.target)
        if info is None:
            with self._answers():
                self.api.create_repo(order.target, repo_type="dataset", private=True, exist_ok=True)
            info = self._info(order.target)
            if info is None:
                raise IOFailure("Hugging Face created the dataset and does not show it yet.")
        deposit = Deposit(
            order.target,
            f"{self.url}/datasets/{order.target}",
            is_public=not info.private,
            revision=str(info.sha or ""),
        )
        is_ours = bool(order.deposit_id) or order.may_replace
        if not is_ours and (others := sorted(set(self.contents(deposit)) - {CARD})):
            raise Refused(
                f"the dataset {order.target} holds other files already, such as {others[0]}.",
                remedy="Choose another name: only a dataset that is empty, or has an earlier release of this"
                " study, is written to.",
            )
        return deposit

    def _info(self, target: str) -> Any:
        from huggingface_hub.errors import RepositoryNotFoundError

        with self._answers():
            try:
                return self.api.dataset_info(target)
            except RepositoryNotFoundError:
                return None

    def contents(self, deposit: Deposit) -> dict[str, str]:
        """Paths with the SHA-256 of large files and the blob ids of the others."""
        from huggingface_hub.hf_api import RepoFile

        with self._answers():
            rows = list(self.api.list_repo_tree(deposit.id, repo_type="dataset", recursive=True))
        files = [row for row in rows if isinstance(row, RepoFile) and row.path not in OF_THE_HUB]
        return {
            row.path: f"sha256:{row.lfs.sha256}" if row.lfs is not None else f"git:{row.blob_id}"
            for row in files
        }

    def upload(
        self, deposit: Deposit, files: Sequence[LocalFile], stale: Sequence[str], *, advance: Advance
    ) -> None:
        """One commit on top of the revision that was read, so a release is there whole or not at all."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        advance(f"one commit of {len(files)} files")
        additions = [CommitOperationAdd(file.name, file.path) for file in files]
        deletions = [CommitOperationDelete(name) for name in stale]
        with self._answers():
            self.api.create_commit(
                deposit.id,
                [*additions, *deletions],
                commit_message="Release from Obelus",
                repo_type="dataset",
                # Race: another commit since the files were compared makes this one fail.
                parent_commit=deposit.revision or None,
            )

    def open(self, deposit: Deposit) -> Deposit:
        """Make the dataset public."""
        if not deposit.is_public:
            with self._answers():
                self.api.update_repo_settings(deposit.id, private=False, repo_type="dataset")
        return replace(self.current(deposit), is_public=True)

    def current(self, deposit: Deposit) -> Deposit:
        """With the revision that the commit made."""
        info = self._info(deposit.id)
        if info is None:
            return deposit
        return replace(deposit, revision=str(info.sha or ""), is_public=not info.private)

    @contextmanager
    def _answers(self) -> Iterator[None]:
        """Turn the library's errors into ours."""
        from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

        try:
            yield
        except RepositoryNotFoundError:
            raise Refused(
                "Hugging Face has no such dataset, or does not show it to this token.",
                remedy="Publish again: it is created anew.",
            ) from None
        except HfHubHTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            if status in {0, 409, 412, 429} or status >= 500:
                raise IOFailure(f"Hugging Face takes no requests for the moment ({status}).") from None
            raise refusal(self.label, status, without_token(error.server_message or "", self.token)) from None
        except BadInput:
            raise
        except ValueError as error:
            raise Refused(f"Hugging Face refused: {without_token(str(error), self.token)}") from None
        except Exception as error:
            # Limit: the library raises errors of its HTTP package, which differs by its version, and a bare
            # RuntimeError for an upload that broke off.
            package = type(error).__module__.partition(".")[0]
            if package not in {"httpx", "httpx2", "hf_xet"} and type(error) is not RuntimeError:
                raise
            raise IOFailure(f"Hugging Face did not answer ({type(error).__name__}).") from None
