"""The catalog of local weights, and the lanes on which inference runs. See README.md."""

from models.catalog import Catalog, Weights
from models.errors import CatalogRefused, ModelsError, WeightsMissing, WeightsRefused
from models.lanes import Lane, Lanes, LanesClosed
from models.pull import Progress, pull
from models.store import Store, default_folder

__all__ = [
    "Catalog",
    "CatalogRefused",
    "Lane",
    "Lanes",
    "LanesClosed",
    "ModelsError",
    "Progress",
    "Store",
    "Weights",
    "WeightsMissing",
    "WeightsRefused",
    "default_folder",
    "pull",
]
