"""The data of the published experiments, bundled, and simulators."""

from .catalogue import ABOUT, load, names
from .dataset import About, Dataset
from .simulators import SIMULATORS, friedman, robot_arm

__all__ = ["ABOUT", "SIMULATORS", "About", "Dataset", "friedman", "load", "names", "robot_arm"]
