// Frames to deltas: the one place that knows the columns of docs/protocol.md.
import { type Delta, type EdgeRow, Flag, KINDS, type NodeRow } from "../model/types";
import { isRecord, readDetails, readFindings, readStatus, text, whole } from "./read";

export const VERSION = 2;
const NODE_COLUMNS = 17;
const NUMBER_COLUMNS = 2;
const EDGE_COLUMNS = 6;

/** A frame that cannot be trusted; the page then asks for everything anew. */
export class FrameError extends Error {}

type Buffer = DataView | ArrayBuffer | Uint8Array;

function bytesOf(buffer: Buffer): Uint8Array {
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** A typed view, copied first when the bytes do not start on a boundary the type allows. */
function view<T>(
  buffer: Buffer | undefined,
  type: { new (buffer: ArrayBuffer, offset: number, length: number): T; BYTES_PER_ELEMENT: number },
  columns: number,
): T {
  const bytes = buffer === undefined ? new Uint8Array(0) : bytesOf(buffer);
  const size = type.BYTES_PER_ELEMENT;
  if (bytes.byteLength % (size * columns) !== 0) throw new FrameError("a buffer has a broken row");
  const whole = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new type(whole.buffer as ArrayBuffer, whole.byteOffset, whole.byteLength / size);
}

/** NaN stands for none, and for itself where the node says that it has a gradient. */
const nodeNorm = (value: number, flags: number): number | null =>
  Number.isNaN(value) && !(flags & Flag.hasGrad) ? null : value;

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** Holds the string table and the sequence number between frames. */
export class FrameDecoder {
  private strings: string[] = [""];
  /** The number of the last frame taken in; -1 before the first. */
  seq = -1;

  /** Throws FrameError when the frame is broken or does not follow the last one. */
  decode(message: Record<string, unknown>, buffers: readonly Buffer[]): Delta {
    if (message.v !== VERSION) throw new FrameError("unknown version of the protocol");
    const base = whole(message.base, Number.NaN);
    const replace = base === -1;
    if (!replace && base !== this.seq) throw new FrameError("a frame was missed");
    const seq = whole(message.seq, Number.NaN);
    if (Number.isNaN(seq)) throw new FrameError("a frame has no number");
    const added = Array.isArray(message.strings) ? message.strings.map(text) : [];
    const strings = replace ? startTable(added) : this.strings.concat(added);
    const delta: Delta = {
      replace,
      nodes: readNodes(buffers, strings),
      edges: readEdges(buffers, strings),
      removed: Array.isArray(message.removed)
        ? message.removed.filter((id) => typeof id === "number")
        : [],
      status: readStatus(message.status),
      findings: readFindings(message.findings),
      details: readDetails(isRecord(message.details) ? message.details : null),
    };
    this.strings = strings;
    this.seq = seq;
    return delta;
  }
}

/** String 0 is the empty one, whether the sender names it or not. */
const startTable = (strings: string[]): string[] =>
  strings[0] === "" ? strings : ["", ...strings];

function readNodes(buffers: readonly Buffer[], strings: string[]): NodeRow[] {
  const cells = view(buffers[0], Int32Array, NODE_COLUMNS);
  const numbers = view(buffers[1], Float64Array, NUMBER_COLUMNS);
  const count = cells.length / NODE_COLUMNS;
  if (numbers.length !== count * NUMBER_COLUMNS) throw new FrameError("figures do not match nodes");
  const word = wordIn(strings);
  const rows: NodeRow[] = new Array(count);
  for (let n = 0; n < count; n++) {
    const at = n * NODE_COLUMNS;
    const kind = KINDS[cells[at + 1]];
    if (kind === undefined) throw new FrameError("unknown kind of node");
    rows[n] = {
      id: cells[at],
      kind,
      op: word(cells[at + 2]),
      label: word(cells[at + 3]),
      shape: word(cells[at + 4]),
      dtype: word(cells[at + 5]),
      device: word(cells[at + 6]),
      version: cells[at + 7],
      cell: cells[at + 8],
      line: cells[at + 9],
      code: word(cells[at + 10]),
      module: word(cells[at + 11]),
      flags: cells[at + 12],
      savedTotal: cells[at + 13],
      savedAlive: cells[at + 14],
      hooks: cells[at + 15],
      creator: cells[at + 16],
      bytes: orNull(numbers[n * NUMBER_COLUMNS]) ?? 0,
      gradNorm: nodeNorm(numbers[n * NUMBER_COLUMNS + 1], cells[at + 12]),
    };
  }
  return rows;
}

function readEdges(buffers: readonly Buffer[], strings: string[]): EdgeRow[] {
  const cells = view(buffers[2], Int32Array, EDGE_COLUMNS);
  const norms = view(buffers[3], Float32Array, 1);
  const count = cells.length / EDGE_COLUMNS;
  if (norms.length !== count) throw new FrameError("norms do not match edges");
  const word = wordIn(strings);
  const rows: EdgeRow[] = new Array(count);
  for (let n = 0; n < count; n++) {
    const at = n * EDGE_COLUMNS;
    rows[n] = {
      source: cells[at],
      target: cells[at + 1],
      slot: cells[at + 2],
      output: cells[at + 3],
      cut: word(cells[at + 4]),
      gradNorm: orNull(norms[n]),
    };
  }
  return rows;
}

function wordIn(strings: string[]): (index: number) => string {
  return (index) => {
    const word = strings[index];
    if (word === undefined) throw new FrameError("a word is missing from the table");
    return word;
  };
}
