// Which part of the picture is seen.

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const EMPTY_BOX: Box = { left: 0, top: 0, right: 0, bottom: 0 };

const LEAST = 0.02;
const MOST = 3;
const MARGIN = 10;

export const clampScale = (scale: number): number => Math.min(MOST, Math.max(LEAST, scale));

export class Camera {
  /** Screen = world * k + (x, y). */
  k = 1;
  x = 0;
  y = 0;
  width = 1;
  height = 1;

  toWorld(x: number, y: number): { x: number; y: number } {
    return { x: (x - this.x) / this.k, y: (y - this.y) / this.k };
  }

  seen(): Box {
    const { x, y } = this.toWorld(0, 0);
    return { left: x, top: y, right: x + this.width / this.k, bottom: y + this.height / this.k };
  }

  holds(box: Box): boolean {
    const seen = this.seen();
    return (
      seen.left <= box.left &&
      seen.right >= box.right &&
      seen.top <= box.top &&
      seen.bottom >= box.bottom
    );
  }

  zoomAt(x: number, y: number, factor: number): void {
    const k = clampScale(this.k * factor);
    this.x = x - ((x - this.x) / this.k) * k;
    this.y = y - ((y - this.y) / this.k) * k;
    this.k = k;
  }

  /**
   * All of `box`, never larger than life and never smaller than `least`; where it does not fit, the part
   * around `focus` (an x) at its foot, which is the newest.
   */
  fit(
    box: Box,
    least = LEAST,
    focus = (box.left + box.right) / 2,
  ): { k: number; x: number; y: number } {
    const [w, h] = [box.right - box.left + 2 * MARGIN, box.bottom - box.top + 2 * MARGIN];
    const k = Math.min(1, Math.max(least, Math.min(this.width / w, this.height / h)));
    const middle = (box.left + box.right) / 2;
    const wide = w * k > this.width + 1;
    const half = this.width / 2 / k - MARGIN;
    const near = Math.min(box.right - half, Math.max(box.left + half, focus));
    const x = this.width / 2 - (wide ? near : middle) * k;
    const tall = h * k > this.height + 1;
    const y = tall
      ? this.height - (box.bottom + MARGIN) * k
      : (this.height - (box.bottom - box.top) * k) / 2 - box.top * k;
    return { k, x, y };
  }

  /** Moves only as far as it takes to see `box`. */
  include(box: Box): { k: number; x: number; y: number } {
    const { k } = this;
    const shift = (low: number, high: number, size: number) =>
      low < MARGIN ? MARGIN - low : high > size - MARGIN ? size - MARGIN - high : 0;
    return {
      k,
      x: this.x + shift(box.left * k + this.x, box.right * k + this.x, this.width),
      y: this.y + shift(box.top * k + this.y, box.bottom * k + this.y, this.height),
    };
  }

  centre(x: number, y: number, k = this.k): { k: number; x: number; y: number } {
    return { k, x: this.width / 2 - x * k, y: this.height / 2 - y * k };
  }
}
