// Bytes by kind, so that the parts add up to the whole.

/** Each kind with its colour. */
export const COLOURS: Record<string, string> = {
  parameters: "var(--gv-leaf-line)",
  gradients: "var(--gv-grad)",
  retained: "var(--gv-text)",
  optimizer: "var(--gv-root-line)",
  saved: "var(--gv-saved)",
  activations: "var(--gv-saved)",
  kept_buffers: "var(--gv-leak)",
  kept: "var(--gv-leak)",
  others: "var(--gv-op-line)",
};

type Bytes = Record<string, number>;

/** After a cell, with what leaks keep as a part of its own. */
export function withLeaks(bytes: Bytes): Bytes {
  const { parameters = 0, gradients = 0, optimizer = 0, saved = 0, others = 0 } = bytes;
  const kept = Math.min(bytes.kept ?? 0, saved + others);
  const rest = Math.max(0, kept - saved);
  return {
    parameters,
    gradients,
    optimizer,
    saved: Math.max(0, saved - kept),
    kept,
    others: others - rest,
  };
}

/** After a cell, with what was asked to be retained as parts of their own. */
export function withRetained(bytes: Bytes): Bytes {
  const { parameters = 0, gradients = 0, retained = 0, optimizer = 0 } = bytes;
  const { saved = 0, kept_buffers = 0, others = 0 } = bytes;
  return {
    parameters,
    gradients: gradients - retained,
    retained,
    optimizer,
    saved: saved - kept_buffers,
    kept_buffers,
    others,
  };
}
