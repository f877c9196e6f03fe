// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// One board: k210.wasm behind a small object. It stands still but in run(); what its memory means
// is read by Python (desk/). Places and flags as in tools/maixmem_cli/emulator/board.py.

export const IDLE = 1, HANGS = 2, OUTPUT = 4, TRACED = 8, RESET = 16, NO_FIRMWARE = 32;
const [RAM, FLASH, CARD, FILM, IN, OUT, EVENT, , PIXELS] = Array(9).keys();
const STATE = ('instructions microseconds idle_microseconds frames asks pixels resets typed hangs '
  + 'limited width height lost cycles').split(' ');
const STATE_BYTES = 8 * (STATE.length + 2 * 36);
const LCD_WIDTH = 480, EVENT_BYTES = 40;
// which of the numbers of a call have 64 bits, as in tools/k210board/board.h (a test compares them)
const WIDE = { k_limit: [1], k_trace: [0, 1, 2], k_hook: [0], k_live: [0, 1, 2], k_guard: [0, 1] };

// A new instance of the module; it imports nothing.
export async function core(module) {
  const exports = (await WebAssembly.instantiate(module, {})).exports;
  exports._initialize();
  return exports;
}

// Calls an exported function by name with plain numbers; its answer as a plain number.
export function call(exports, name, ...numbers) {
  const given = numbers.map((n, i) => (WIDE[name]?.includes(i) ? BigInt(n) : n));
  return Number(exports[name](...given) ?? 0) >>> 0;
}

// Owns its instance. Views are taken after k_new, the only call that makes the memory grow.
export class Board {
  constructor(exports, { flash, card = null, film = null }) {
    this.exports = exports;
    exports.k_new(card?.length ?? 0, film?.length ?? 0);
    this.ram = this.#view(RAM);
    this.out = this.#view(OUT);
    this.event = this.#view(EVENT);
    this.pixels = new Uint16Array(exports.memory.buffer, exports.k_place(PIXELS), LCD_WIDTH * 480);
    for (const [part, data] of [[FLASH, flash], [CARD, card], [FILM, film]]) {
      if (data) this.#view(part).set(data);
    }
    exports.k_start();
  }

  #view(part) {
    const { exports } = this;
    return new Uint8Array(exports.memory.buffer, exports.k_place(part), exports.k_size(part));
  }

  get flash() { return this.#view(FLASH); }

  run(rounds) { return this.exports.k_run(rounds); }

  // Power off and on: flash and card keep what was written.
  restart() { this.exports.k_start(); }

  // How many of the bytes there was room for.
  type(bytes) {
    const place = this.#view(IN), n = Math.min(bytes.length, place.length);
    place.set(bytes.subarray(0, n));
    return this.exports.k_type(n);
  }

  // What was said since the last time, or null.
  heard() {
    const n = this.exports.k_took_out();
    return n ? this.out.slice(0, n) : null;
  }

  // What was traced since the last time, or null.
  traced() {
    const n = this.exports.k_took_events();
    return n ? this.event.slice(0, n * EVENT_BYTES) : null;
  }

  // The numbers of k_state by name.
  state() {
    const at = this.exports.k_state();
    const words = new BigUint64Array(this.exports.memory.buffer, at, STATE.length);
    return Object.fromEntries(STATE.map((name, i) => [name, Number(words[i])]));
  }

  // The same as bytes, the registers of both cores behind them, for Python.
  stateBytes() {
    const at = this.exports.k_state();
    return new Uint8Array(this.exports.memory.buffer, at, STATE_BYTES).slice();
  }

  // The display as RGBA pixels; null before anything was drawn.
  picture({ width, height }) {
    if (!width || !height) return null;
    const rgba = new Uint32Array(width * height);
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0, at = y * LCD_WIDTH; x < width; x++) {
        const v = this.pixels[at++], r = v >> 11, g = v >> 5 & 63, b = v & 31;
        rgba[i++] = 0xff000000 | (b << 3 | b >> 2) << 16 | (g << 2 | g >> 4) << 8 | r << 3 | r >> 2;
      }
    }
    return { width, height, rgba };
  }
}
