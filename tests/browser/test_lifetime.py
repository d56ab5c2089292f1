"""A view in a page by itself, fed as a kernel would: 10,000 updates leave no more than 2,000."""

import pytest

from tests.browser.conftest import ROOT

FRAMES = ROOT / "js" / "dev" / "frames.mjs"
WIDGET = ROOT / "gradviz" / "static" / "widget.js"
MOUNT = """async ([widget, frames]) => {
  const load = text => import(URL.createObjectURL(new Blob([text], {type: 'text/javascript'})));
  const [{default: view}, {Sender}] = [await load(widget), await load(frames)];
  const el = document.createElement('div');
  document.body.append(el);
  const traits = {panel: 'graph', language: 'en', theme: 'light', placement: 'inline', height: 420};
  const heard = {};
  const model = {
    get: name => traits[name], set() {}, save_changes() {}, off() {}, send() {},
    on: (event, callback) => { heard[event] = callback; },
  };
  window.endView = view.render({model, el});
  const sender = new Sender();
  let next = 1;
  const node = (id, kind) => ({
    id, kind, op: kind === 'operation' ? 'MulBackward0' : '', label: '', shape: [2, id % 7],
    dtype: 'float32', device: 'cpu', version: 0, place: {cell: id >> 6, line: id % 20, code: ''},
    module: '', requires_grad: true, is_leaf: kind !== 'operation', saved: [], hooks: [],
    findings: [], cut: '', bytes: 8, grad_norm: id % 3 ? id / 7 : null, alive: true,
  });
  const feed = (nodes, edges, more) => {
    const {message, buffers} = sender.frame(nodes, edges, more);
    heard['msg:custom'](message, buffers);
  };
  feed([node(0, 'leaf')], [], {});
  window.update = async count => {
    for (let k = 0; k < count; k++) {
      const id = next++;
      const status = {
        state: k % 2 ? 'running' : 'idle', cell: id >> 6, shown: 40, total: 40, cells: [],
      };
      const removed = id > 40 ? [id - 40] : [];
      const source = id === 1 || id % 9 === 0 ? 0 : id - 1;
      const edge = {source, target: id, slot: 0, output: 0, cut: '', grad_norm: null};
      feed([node(id, 'operation')], [edge], {removed, status});
      if (k % 25 === 0) await new Promise(done => setTimeout(done));
    }
    await new Promise(done => setTimeout(done, 400));
    return document.querySelector('.gradviz-host').shadowRoot.querySelectorAll('*').length;
  };
}"""
SPARE = 1_000_000


def heap(session):
    """Bytes of JavaScript that are reachable."""
    session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"]


@pytest.mark.skipif(not WIDGET.is_file(), reason="the view's JavaScript is not built")
def test_memory_is_flat_over_ten_thousand_updates(browser):
    page = browser.new_page()
    failed = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    try:
        page.set_content("<!doctype html><body></body>")
        page.evaluate(MOUNT, [WIDGET.read_text("utf-8"), FRAMES.read_text("utf-8")])
        session = page.context.new_cdp_session(page)
        elements = page.evaluate("() => window.update(2000)")
        before = heap(session)
        later = page.evaluate("() => window.update(8000)")
        assert heap(session) - before < SPARE
        assert abs(later - elements) < 100
        count = page.locator("[data-testid=gv-count]")
        assert count.get_attribute("data-total") == "41"
        page.evaluate("() => window.endView()")
        assert failed == []
    finally:
        page.close()
