// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The board's tab: switches it on, runs scripts, shows what comes, asks Python why it hangs.
import * as display from './display.js';
import * as editor from './editor.js';
import * as maps from './heap_maps.js';
import { Console } from './console.js';
import { parts } from './power.js';
import { ScriptRun } from './script_run.js';
import { language, say } from './words.js';
import { worker } from './workers.js';

const $ = (id) => document.getElementById(id);
const encode = (text) => new TextEncoder().encode(text);
const PROMPT = '>>> ', RAW = 'main.py';
const DUMP = 'core dump:', MOST_OUTPUT = 1 << 16;
const LOOK_EVERY = 400, BOOT_MOST = 20000; // ms
const DOES_NOT_END = 3000; // ms after Ctrl-C
const STUCK = 5; // seconds of the board's clock in which no core does anything

// Owns the worker with the board. `state`: off, placing, starting, prompt, running, hangs, failed.
// `coming` is a board that is being switched on, `has` what is on the one that is.
export class BoardTab {
  constructor(files, desk) {
    this.files = files;
    this.desk = desk;
    this.state = 'off';
    this.looks = new Map();
    this.next = 0;
    this.run = null;
    this.watched = false;
    this.coming = null;
    this.has = '';
    this.pressed = 0;
    this.waiting = false;
    this.lent = null;
    this.console = new Console($('console'), (bytes) => this.type(bytes));
    this.worker = worker('../board/worker.js');
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = (e) => this.#failed({ why: 'boardFailed', text: e.message ?? '' });
    maps.start(() => this.#askOwners());
    document.addEventListener('words', () => this.filesChanged());
    this.filesChanged();
    setInterval(() => { if (this.desk.ready) this.#mapsNow(); }, LOOK_EVERY);
  }

  type(bytes) { this.worker.postMessage({ kind: 'type', bytes }); }

  // Its cable for another part of the page: what it says goes there, until null is given. The
  // script that runs is interrupted there.
  lend(take) {
    this.lent = take;
    if (!take || !this.run) return;
    this.run.stop();
    this.run = null;
    this.#become('prompt');
  }

  // --- what the board says ---

  #take(data) {
    const takes = {
      started: () => { if (this.coming?.number === data.number) this.coming.began = true; },
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
    if (this.coming && !this.coming.began) return; // of the board before
    if (this.lent) this.lent(bytes);
    else if (this.run) this.run.take(bytes);
    else this.#show(bytes);
    if (this.coming && this.console.said.endsWith(PROMPT)) this.coming.up('prompt');
  }

  // To the console; a core dump, which is for whoever asks, below it.
  #show(bytes) {
    const text = new TextDecoder().decode(bytes), at = this.dumps ? 0 : text.indexOf(DUMP);
    if (at < 0) {
      this.console.write(bytes);
      return;
    }
    this.dumps = true;
    this.console.write(encode(text.slice(0, at)));
    this.console.said += text.slice(at);
    $('dump').textContent += text.slice(at);
    $('dump-fold').hidden = false;
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
    this.coming?.up('failed');
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
    $('run').disabled = !this.files.firmware;
    document.body.classList.toggle('without-board', !this.files.firmware);
  }

  // What a script runs on is another: a board that only waits starts anew.
  filesChanged() {
    if (this.files.firmware && this.#stale && this.state !== 'running') this.powerOn();
    if (!this.files.firmware && this.state !== 'off') this.#become('off');
    this.#tellState();
  }

  // What must be said beside the script; '' takes it away, and the answer with it.
  tell(text) {
    $('told').hidden = !text;
    $('told').textContent = text;
    $('answer').hidden = true;
    this.cure?.stop();
  }

  // An answer of the command, as HTML, with what it follows from folded below it.
  answer({ html, more }) {
    this.tell('');
    $('answer-text').innerHTML = html;
    $('answer-more').textContent = more.join('\n');
    $('answer-fold').hidden = !more.length;
    $('answer').hidden = false;
  }

  // --- on, off, run ---

  // What a board has to have on it now.
  get #wanted() { return `${this.files.contents} ${$('library').checked}`; }

  get #stale() { return (this.coming?.wanted ?? this.has) !== this.#wanted; }

  // Switches on a board with the user's files as they are; settles when it is at its prompt, or
  // failed. One that is coming with the same files is waited for, but `anew`.
  powerOn({ anew = false } = {}) {
    if (!this.files.firmware) {
      this.tell(say('needsFirmware'));
      return Promise.resolve();
    }
    if (this.coming && !anew && !this.#stale) return this.coming.done;
    const before = this.coming, coming = { wanted: this.#wanted, number: Math.random() };
    const up = new Promise((done) => { coming.up = done; });
    this.coming = coming;
    coming.done = this.#switchOn(coming, up);
    before?.up('another');
    return coming.done;
  }

  async #switchOn(coming, up) {
    this.run?.stop();
    this.run = null;
    this.watched = this.dumps = false;
    this.tell('');
    $('dump').textContent = '';
    $('dump-fold').hidden = true;
    this.#become('starting');
    this.console.clear();
    try {
      const made = await parts(this.files, this.desk, $('library').checked);
      if (this.coming !== coming) return this.coming?.done;
      this.worker.postMessage({ kind: 'start', number: coming.number, ...made });
    } catch (e) {
      if (this.coming !== coming) return this.coming?.done;
      this.#failed({ why: 'cannotStart', text: e.message });
    }
    const late = setTimeout(() => this.#failed({ why: 'noPrompt' }), BOOT_MOST);
    const how = await up;
    clearTimeout(late);
    if (this.coming !== coming) return this.coming?.done;
    this.coming = null;
    this.has = coming.wanted;
    if (how === 'prompt') {
      this.#become(this.waiting ? 'placing' : 'prompt'); // Run was pressed
      this.#learn();
    }
    return undefined;
  }

  // Waits for the files' places and for a board that has them.
  async runScript() {
    const pressed = ++this.pressed;
    if (!this.files.firmware) {
      this.tell(say('needsFirmware'));
      return;
    }
    this.waiting = true;
    if (this.state === 'prompt') this.#become('placing');
    await this.files.ready();
    if (pressed !== this.pressed) return;
    this.waiting = false;
    const code = editor.text(), [lost] = this.files.unplaced;
    if (lost) {
      if (this.state === 'placing') this.#become(this.coming ? 'starting' : 'prompt');
      this.tell(say('noPlace', { name: lost }));
      return;
    }
    if (/^\s*(import|from)\s+maixmem/m.test(code)) $('library').checked = true;
    const can = ['prompt', 'running', 'placing'].includes(this.state);
    if (this.#stale || this.coming || !can) await this.powerOn();
    if (pressed !== this.pressed) return;
    if (this.state === 'placing') this.#become('prompt');
    if (this.state !== 'prompt' && this.state !== 'running') return;
    this.run?.stop();
    this.tell('');
    editor.mark(0);
    await this.#watch(code);
    this.console.note(say('runs'));
    await this.#send(code);
  }

  async #send(code) {
    const show = (text) => { this.output += text; this.#show(encode(text)); };
    const run = new ScriptRun(code, { type: (bytes) => this.type(bytes), show });
    this.output = '';
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

  // What the error means, and the line that raised it.
  async #meaning(error) {
    const line = [...error.matchAll(/"<stdin>", line (\d+)/g)].pop();
    if (line) editor.mark(Number(line[1]));
    if (!/KeyboardInterrupt/.test(error) && this.watched) await this.#explain('raised', error);
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
    const { ram, state } = await this.#look(), { firmware, placed } = this.files;
    const { calls } = await this.#tellPython('watch', firmware.name, RAW, placed, ram, state);
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
      await this.powerOn({ anew: true });
      await this.#watch(code);
      await this.#send(code);
      return;
    }
    await this.#explain('hangs');
  }

  // The command's answer to how the run ended.
  async #explain(kind, error = '') {
    const { ram, state, events } = await this.#look({ where: true, traced: true });
    const found = await this.#tellPython('ended', kind, error, this.output.slice(-MOST_OUTPUT),
      language(), ram, state, events);
    if (found.line) editor.mark(found.line);
    if (!found.html) return;
    this.answer(found);
    this.next = 0;
    const drawn = this.#mapsNow(); // before Python has other things to do
    if (found.may_help) this.cure.find(drawn);
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
