"""What displays need of a model, of any library. What only some models have is looked up by name."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


class Predictor(Protocol):
    """A fitted model that predicts; `decision_function`, `support_` and the like are drawn where it has them."""

    def predict(self, X: Any) -> Any:
        """A number or a label for each row."""
        ...


class Estimator(Protocol):
    """A model that is copied with other parameters, and fitted again."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """The parameters by name."""
        ...

    def set_params(self, **params: Any) -> object:
        """Other parameters."""
        ...

    def fit(self, X: Any, y: Any) -> object:
        """Learn from rows."""
        ...


@runtime_checkable
class Pipelined(Protocol):
    """A pipeline: its last step is the model, and the others transform rows."""

    steps: list[tuple[str, Any]]

    def __getitem__(self, index: Any) -> Any: ...
