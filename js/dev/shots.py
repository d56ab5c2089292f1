"""Pictures of the gallery: ``python js/dev/shots.py FOLDER [NAME…]``.

First make its pages with ``node js/dev/gallery.mjs FOLDER``.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
# page, suffix, query, width, height, node to select, tab
SHOTS = [
    ("network", "light", "theme=light", 1180, 920, 7, "grad"),
    ("network", "dark", "theme=dark", 1180, 920, 7, "alive"),
    ("network", "zh", "theme=light&lang=zh", 1180, 920, 7, "grad"),
    ("network", "narrow", "theme=light", 480, 1300, 7, "saved"),
    ("network", "narrow-zh-dark", "theme=dark&lang=zh", 480, 1300, 7, "value"),
    ("network", "none", "theme=light", 1180, 920, None, None),
    ("regression", "light", "theme=light", 1180, 920, 6, "value"),
    ("regression", "dark", "theme=dark", 1180, 920, 2, "grad"),
    ("chain", "light", "theme=light", 1180, 760, None, None),
    ("recurrent", "light", "theme=light", 1180, 920, None, None),
    ("residual", "light", "theme=light", 1180, 920, None, None),
    ("transformer", "dark", "theme=dark", 1180, 920, None, None),
    ("marks", "light", "theme=light", 1180, 920, 5, "saved"),
    ("marks", "dark", "theme=dark", 1180, 920, 4, "saved"),
    ("hostile", "light", "theme=light", 1180, 920, 9, "source"),
    ("empty", "light", "theme=light", 1180, 700, None, None),
    ("empty", "zh", "theme=dark&lang=zh", 480, 700, None, None),
]


def main(folder, names):
    folder = Path(folder).resolve()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for page_name, suffix, query, width, height, node, tab in SHOTS:
            if names and page_name not in names and f"{page_name}-{suffix}" not in names:
                continue
            page = browser.new_page(viewport={"width": width, "height": height})
            page.on("console", lambda m, n=page_name: print(n, m.type, m.text))
            page.on("pageerror", lambda e, n=page_name: print(n, "ERROR", e))
            page.on("dialog", lambda d, n=page_name: print(n, "DIALOG", d.message))
            page.goto(f"file://{folder}/{page_name}.html?{query}")
            page.wait_for_timeout(500)
            if node:
                page.locator(f"[data-node-id='{node}']").first.dispatch_event("click")
                page.locator(f"[data-testid=gv-tab-{tab}]").click()
                page.wait_for_timeout(250)
            print(page_name, suffix, page.locator("[data-testid=gv-count]").inner_text())
            page.screenshot(path=folder / f"{page_name}-{suffix}.png", full_page=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
