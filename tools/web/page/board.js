// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The board's tab: switches it on, runs scripts, shows what comes, asks Python why it hangs.
import * as display from './display.js';
import * as editor from './editor.js';
import * as maps from './heap_maps.js';
import { Console } from './console.js';
import { parts } from './power.js';
import { ScriptRun } from './script_run.js';
import { say } from './words.js';
import { worker } from './workers.js';

const $ = (id) => document.getElementById(id);
const encode = (text) => new TextEncoder().encode(text);
const PROMPT = '>>> ', RAW = 'main.py';
const LOOK_EVERY = 400, BOOT_MOST = 20000; // ms
const DOES_NOT_END = 3000; // ms after Ctrl-C
const STUCK = 5; // seconds of the board's clock in which no core does anything

// Owns the worker with the board. `state`: off, starting, prompt, running, hangs, failed.
export class BoardTab {
  constructor(files, desk) {
    this.files = files;
    this.desk = desk;
    this.state = 'off';
    this.looks = new Map();
    this.next = 0;
    this.run = null;
    this.watched = false;
    this.console = new Console($('console'), (bytes) => this.type(bytes));
    this.worker = worker('../board/worker.js');
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = (e) => this.#failed({ why: 'boardFailed', text: e.message ?? '' });
    maps.start(() => this.#askOwners());
    document.addEventListener('words', () => this.#tellState());
    this.#tellState();
    setInterval(() => { if (this.desk.ready) this.#mapsNow(); }, LOOK_EVERY);
  }

  type(bytes) { this.worker.postMessage({ kind: 'type', bytes }); }

  // --- what the board says ---

  #take(data) {
    const takes = {
      said: () => this.#said(data.data),
      picture: () => display.draw(data),
      pace: () => this.#pace(data),
      hangs: () => this.#hangs(),
      looked: () => { this.looks.get(data.id)?.(data); this.looks.delete(data.id); },
      failed: () => this.#failed(data),
    };
    takes[data.kind]?.();
  }

  #said(bytes) {
    if (this.run) this.run.take(bytes);
    else this.console.write(bytes);
    if (this.state === 'starting' && this.console.said.endsWith(PROMPT)) {
      this.#become('prompt');
      this.started?.();
      this.#learn();
    }
  }

  #pace({ frames, speed, mips, idle, asks }) {
    if (this.state === 'running' && idle > STUCK && asks === this.asks) this.#stuck();
    if (this.state !== 'running') this.asks = asks;
    const values = { frames: frames.toFixed(1), speed: speed.toFixed(2), mips: mips.toFixed(0) };
    $('pace').textContent = say('paceNow', values);
    $('pace').dataset.frames = values.frames;
  }

  #failed({ why, text = '' }) {
    this.run?.stop();
    this.run = null;
    this.#become('failed');
    this.tell(say(why, { text }));
    this.started?.();
  }

  #become(state) {
    this.state = state;
    this.#tellState();
  }

  #tellState() {
    $('state').textContent = say(`state_${this.state}`);
    $('state').dataset.state = this.state;
    const off = this.state === 'off' || this.state === 'failed';
    for (const id of ['stop', 'ctrl-c', 'reset', 'why']) $(id).disabled = off;
  }

  // What must be said beside the script; '' takes it away.
  tell(text) {
    $('told').hidden = !text;
    $('told').textContent = text;
  }

  // --- on, off, run ---

  // Switches on a new board with the user's files; settles when it is at its prompt, or failed.
  async powerOn() {
    if (!this.files.firmware) {
      this.tell(say('needsFirmware'));
      return;
    }
    this.run?.stop();
    this.run = null;
    this.watched = false;
    this.tell('');
    this.#become('starting');
    this.console.clear();
    try {
      const made = await parts(this.files, this.desk, $('library').checked);
      const up = new Promise((done) => { this.started = done; });
      this.worker.postMessage({ kind: 'start', ...made });
      const late = setTimeout(() => this.#late(), BOOT_MOST);
      await up;
      clearTimeout(late);
      this.stale = false;
    } catch (e) {
      this.#failed({ why: 'cannotStart', text: e.message });
    }
  }

  #late() {
    if (this.state === 'starting') this.#failed({ why: 'noPrompt' });
  }

  async runScript() {
    const code = editor.text();
    if (/^\s*(import|from)\s+maixmem/m.test(code) && !$('library').checked) {
      $('library').checked = true;
      this.stale = true;
    }
    if (this.stale || !['prompt', 'running'].includes(this.state)) await this.powerOn();
    if (this.state !== 'prompt' && this.state !== 'running') return;
    this.run?.stop();
    this.tell('');
    editor.mark(0);
    await this.#watch(code);
    this.console.note(say('runs'));
    await this.#send(code);
  }

  async #send(code) {
    const show = (text) => this.console.write(encode(text));
    const run = new ScriptRun(code, { type: (bytes) => this.type(bytes), show });
    this.run = run;
    this.#become('running');
    try {
      const { error, stopped } = await run.done;
      if (this.run !== run || stopped) return;
      this.#become('prompt');
      if (error.trim()) await this.#meaning(error);
    } catch (e) {
      this.tell(say(e.message));
      this.#become('prompt');
    } finally {
      if (this.run === run) this.run = null;
    }
  }

  async #meaning(error) {
    const line = [...error.matchAll(/"<stdin>", line (\d+)/g)].pop();
    if (line) editor.mark(Number(line[1]));
    if (/KeyboardInterrupt/.test(error) || !this.desk.ready) return;
    const { result } = await this.desk.call('meaning', [error]);
    const steps = result.steps.map((step, i) => `${i + 1}. ${step}`);
    if (result.means) this.tell([error.trim().split('\n').pop(), `= ${result.means}`, ...steps].join('\n'));
  }

  // Ctrl-C; a script that catches it ends with the board.
  stop() {
    this.type(encode('\x03'));
    const { run } = this;
    if (run) setTimeout(() => { if (this.run === run) this.tell(say('doesNotEnd')); }, DOES_NOT_END);
  }

  // --- Python looks at it ---

  // The board's RAM and registers; what was traced since the last time, with `traced`.
  #look({ where = false, traced = false } = {}) {
    return new Promise((done) => {
      const id = Math.random();
      this.looks.set(id, done);
      this.worker.postMessage({ kind: 'look', id, where, traced });
    });
  }

  async #ask(name, look = { traced: true }) {
    const { ram, state, events } = await this.#look(look);
    return this.#tellPython(name, ram, state, events);
  }

  // What was looked at goes to Python and is gone here.
  async #tellPython(name, ...args) {
    const given = args.filter((a) => a.buffer).map((a) => a.buffer);
    return (await this.desk.call(name, args, given)).result;
  }

  async #learn() {
    try {
      await this.files.send();
      await this.#mapsNow();
      const { name } = this.files.firmware;
      await this.desk.call('learn', [name]);
      this.learned = name;
      $('state').dataset.learned = name;
    } catch (e) {
      this.tell(say('noPython', { text: e.message }));
    }
  }

  // Hooks the allocator before a script runs, where Python knows the firmware already.
  async #watch(code) {
    this.watched = false;
    maps.setOwners({});
    if (this.learned !== this.files.firmware.name || this.state !== 'prompt') return;
    await this.desk.put(RAW, code);
    const { ram, state } = await this.#look();
    const { calls } = await this.#tellPython('watch', this.files.firmware.name, RAW, ram, state);
    this.worker.postMessage({ kind: 'calls', calls });
    this.watched = calls.length > 0;
  }

  async #hangs() {
    if (this.state === 'starting') {
      this.#failed({ why: 'crashes' });
      return;
    }
    const code = editor.text(), script = this.run !== null;
    this.run?.stop();
    this.run = null;
    this.#become('hangs');
    this.tell(say('hangsNow'));
    if (!this.watched && script) { // once more, with Python watching
      this.tell(say('hangsAgain'));
      await this.#learn();
      await this.powerOn();
      await this.#watch(code);
      await this.#send(code);
      return;
    }
    await this.#explain('hangs');
  }

  // The words of the command about an end that is not the script's own.
  async #explain(kind) {
    const { ram, state, events } = await this.#look({ where: true, traced: true });
    const found = await this.#tellPython('hang', kind, ram, state, events);
    const told = found.join('\n'), line = /main\.py:(\d+)/.exec(told);
    if (line) editor.mark(Number(line[1]));
    if (told) this.tell(told);
  }

  // Nothing happens any more, and nobody was asked for input.
  async #stuck() {
    if (this.stuck === this.run || !this.watched) return;
    this.stuck = this.run;
    await this.#explain('stuck');
  }

  // Where the script is and what both heaps hold, at any time.
  async why() {
    if (this.state === 'hangs') return;
    const told = this.watched ? await this.#ask('where', { where: true, traced: true }) : [];
    this.tell(told.join('\n') || say('runFirst'));
  }

  async #askOwners() {
    if (!this.watched || this.asking) return;
    this.asking = true;
    maps.setOwners(await this.#ask('owners').finally(() => { this.asking = false; }));
  }

  async #mapsNow() {
    const on = ['prompt', 'running', 'hangs'].includes(this.state);
    const start = performance.now();
    if (!on || this.desk.busy || document.hidden || $('board').hidden || start < this.next) return;
    const { ram } = await this.#look();
    const found = await this.#tellPython('look', ram);
    if (!found.error) maps.draw(found);
    if (maps.pointed()) await this.#askOwners();
    this.next = performance.now() + 3 * (performance.now() - start); // most of the time is the board's
  }
}
