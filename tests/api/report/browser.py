"""A real browser, without a window or a network: Debian's chromium, driven by selenium."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Where screenshots are kept, for people to look at.
KEPT = Path(__file__).parents[3] / "build" / "reports"
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
NAMES = (("chromium", "chromium-browser", "google-chrome"), ("chromedriver",))


def started(folder: Path) -> Iterator[Any]:
    """A browser; the tests that need one are skipped where there is none."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed: pip install 'baytree[test]'"
    )
    from selenium.webdriver.chrome.service import Service

    found = [next((path for name in names if (path := shutil.which(name))), None) for names in NAMES]
    if None in found:
        pytest.skip("there is no chromium with its driver here: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for option in (*OPTIONS, f"--user-data-dir={folder}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found[1]))
    yield Browser(driver)
    driver.quit()


class Browser:
    """What the tests ask of a browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def show(self, path: Path, *, width: int = 1000, scheme: str = "light", media: str = "") -> None:
        """Show a file as wide as a screen is, in a colour scheme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", {"media": media, "features": features})
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.command("Emulation.setDeviceMetricsOverride", screen)
        self.driver.get(path.as_uri())

    def command(self, name: str, options: dict[str, Any]) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, options)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    @property
    def complaints(self) -> list[str]:
        """What the console says since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    @property
    def requests(self) -> list[str]:
        """The addresses asked for since the last time."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def keep(self, name: str) -> None:
        """Keep a picture of the whole page."""
        KEPT.mkdir(parents=True, exist_ok=True)
        width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12_000), "scale": 1}
        shot = self.command("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (KEPT / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key)).perform()
