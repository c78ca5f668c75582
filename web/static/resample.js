// One stream from one rate to another, by a windowed sinc. Used inside the worklets, where there is no other resampler.
// It is for streams: what it holds back (half a filter, under a millisecond) comes out with the next block.

const TAPS = 32;
const PHASES = 256;
// The pass band ends a little under the lower half rate, so that the short filter has room to fall.
const CUTOFF = 0.92;

export class Resampler {
  /** @param {number} fromHz @param {number} toHz */
  constructor(fromHz, toHz) {
    this.step = fromHz / toHz;
    this.same = fromHz === toHz;
    this.table = this.same ? [] : makeTable(Math.min(1, toHz / fromHz) * CUTOFF);
    this.held = new Float32Array(TAPS);
    this.at = TAPS / 2;
  }

  /** @param {Float32Array} block @returns {Float32Array} */
  push(block) {
    if (this.same) return block.slice();
    const input = new Float32Array(this.held.length + block.length);
    input.set(this.held);
    input.set(block, this.held.length);
    const out = new Float32Array(Math.max(0, Math.ceil((input.length - TAPS / 2 - this.at) / this.step)));
    let count = 0;
    for (; this.at + TAPS / 2 < input.length && count < out.length; this.at += this.step) {
      const whole = Math.floor(this.at);
      const taps = this.table[Math.floor((this.at - whole) * PHASES)];
      let sum = 0;
      for (let tap = 0, from = whole - TAPS / 2 + 1; tap < TAPS; tap++) sum += taps[tap] * input[from + tap];
      out[count++] = sum;
    }
    const drop = Math.min(Math.floor(this.at) - TAPS / 2, input.length);
    this.held = input.slice(drop);
    this.at -= drop;
    return out.subarray(0, count);
  }
}

function makeTable(cutoff) {
  const table = [];
  for (let phase = 0; phase < PHASES; phase++) {
    const taps = new Float32Array(TAPS);
    let sum = 0;
    for (let tap = 0; tap < TAPS; tap++) {
      const x = tap - TAPS / 2 + 1 - phase / PHASES;
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * cutoff * x) / (Math.PI * cutoff * x);
      const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / (TAPS / 2 + 0.5));
      taps[tap] = sinc * window;
      sum += taps[tap];
    }
    for (let tap = 0; tap < TAPS; tap++) taps[tap] /= sum;
    table.push(taps);
  }
  return table;
}
