"""axe-core's rules, run in a page."""

import pytest

from tests.browser.conftest import ROOT

AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")

needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed (npm ci in js/)"
)


def violations(page, scope="body"):
    """What axe calls serious or critical inside ``scope``: rule and elements."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    run = "scope => axe.run(scope, {resultTypes: ['violations']})"
    found = page.evaluate(run, scope)["violations"]
    return [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in GRAVE
    ]
