// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Runs a board as fast as a real one, or as fast as this machine can. Takes messages
// {kind: start, type, calls, look, restart}; says {kind: started, said, picture, pace,
// hangs, reset, looked, failed}.
import { Board, HANGS, IDLE, NO_FIRMWARE, RESET, call, core } from './k210.js';
import { pattern } from './camera.js';

const SLICE = 12; // ms between two looks at the messages
const ROUNDS = 200; // of 1,000 instructions a core
const MOST_TRACED = 32 << 20; // bytes of events that are kept
const module = WebAssembly.compileStreaming(fetch(new URL('../k210.wasm', import.meta.url)));
module.catch(() => {}); // told when it is wanted

let board = null, typed = [], events = [], eventBytes = 0, drawn = 0, hung = false, timer = 0;
let pace = null, due = false;
const soon = new MessageChannel(); // setTimeout would wait for 4 ms
soon.port1.onmessage = guarded;

function later(ms) {
  clearTimeout(timer);
  if (ms) {
    timer = setTimeout(guarded, ms);
  } else if (!due) {
    due = true;
    soon.port2.postMessage(0);
  }
}

function failed(e) {
  board = null;
  postMessage({ kind: 'failed', why: 'boardFailed', text: String(e.message ?? e) });
}

function guarded() {
  due = false;
  clearTimeout(timer);
  try {
    if (board) slice();
  } catch (e) { // a trap of the module: this board is over
    failed(e);
  }
}

function type() {
  while (typed.length) {
    const n = board.type(typed[0]);
    if (n < typed[0].length) {
      typed[0] = typed[0].subarray(n);
      return;
    }
    typed.shift();
  }
}

function keepEvents() {
  const found = board.traced();
  if (!found) return;
  events.push(found);
  eventBytes += found.length;
  if (eventBytes > MOST_TRACED) call(board.exports, 'k_untrace');
}

function slice() {
  const start = performance.now(), end = start + SLICE, from = board.state().microseconds;
  let why = 0;
  do {
    type();
    why = board.run(ROUNDS);
    keepEvents();
    const data = board.heard();
    if (data) postMessage({ kind: 'said', data }, [data.buffer]);
    if (why & RESET) postMessage({ kind: 'reset' });
  } while (performance.now() < end && !(why & (IDLE | HANGS | NO_FIRMWARE)));
  const state = board.state();
  draw(state);
  tellPace(state, performance.now());
  if (!!(why & HANGS) !== hung) {
    hung = !hung;
    if (hung) postMessage({ kind: 'hangs' });
  }
  if (why & NO_FIRMWARE) {
    postMessage({ kind: 'failed', why: 'noFirmwareInIt' });
    return;
  }
  // a board that waits has its clock run ahead: it is held back to ours
  const ahead = (state.microseconds - from) / 1000 - (performance.now() - start);
  later(hung ? 200 : why & IDLE ? 20 : Math.max(0, Math.min(20, ahead)));
}

function draw(state) {
  if (state.pixels === drawn) return;
  drawn = state.pixels;
  const shown = board.picture(state);
  if (shown) postMessage({ kind: 'picture', ...shown }, [shown.rgba.buffer]);
}

function tellPace(state, now) {
  if (pace && now - pace.now < 1000) return;
  if (pace) {
    const ms = now - pace.now;
    postMessage({
      kind: 'pace',
      frames: (state.frames - pace.frames) * 1000 / ms,
      speed: (state.microseconds - pace.microseconds) / 1000 / ms,
      mips: (state.instructions - pace.instructions) / 1000 / ms,
      idle: state.typed ? 0 : state.idle_microseconds / 1e6,
      asks: state.asks,
    });
  }
  pace = { now, ...state };
}

// All that Python needs to read a board that stands still; `traced`: also what was traced since
// the last time, `where`: and where it is.
function look({ id, where, traced }) {
  if (where) call(board.exports, 'k_where');
  keepEvents();
  const ram = board.ram.slice(), state = board.stateBytes();
  const found = traced ? takeEvents() : new Uint8Array();
  postMessage({ kind: 'looked', id, ram, state, events: found },
    [ram.buffer, state.buffer, found.buffer]);
}

function takeEvents() {
  const all = new Uint8Array(eventBytes);
  let at = 0;
  for (const piece of events) {
    all.set(piece, at);
    at += piece.length;
  }
  events = [];
  eventBytes = 0;
  return all;
}

let newest = 0;

async function start({ flash, card, film, number }) {
  board = null;
  newest = number;
  const exports = await core(await module);
  if (newest !== number) return; // another was asked for since
  forget();
  board = new Board(exports, { flash, card, film: film ?? pattern() });
  postMessage({ kind: 'started', number });
  later(0);
}

function forget() {
  typed = [];
  events = [];
  eventBytes = drawn = 0;
  hung = false;
  pace = null;
}

const TAKES = {
  start,
  type: ({ bytes }) => { typed.push(bytes); if (board) later(0); },
  calls: ({ calls }) => calls.forEach(([name, ...numbers]) => call(board.exports, name, ...numbers)),
  look,
  restart: () => { if (!board) return; forget(); board.restart(); later(0); },
};

addEventListener('message', async ({ data }) => {
  try {
    await TAKES[data.kind](data);
  } catch (e) {
    failed(e);
  }
});
