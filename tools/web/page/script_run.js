// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Sends a script over the raw REPL, as the command does, and shows what it prints between the
// protocol's own words. Feed it all that the board says while it runs.

const encoder = new TextEncoder();
const BANNER = 'raw REPL; CTRL-B to exit\r\n>', END = '\x04', PROMPT = '>>> ';
const LONGEST_WAIT = 15000; // ms until the board must have the script

// type(bytes) goes to the board, show(text) to the console. done is {error} when the script ended.
export class ScriptRun {
  constructor(code, { type, show }) {
    this.code = encoder.encode(code || '\n');
    this.type = type;
    this.show = show;
    this.decoder = new TextDecoder();
    this.pending = '';
    this.error = '';
    this.step = this.#banner;
    this.done = new Promise((done, failed) => { this.finish = done; this.fail = failed; });
    this.done.catch(() => {});
    this.timer = setTimeout(() => this.fail(new Error('notRaw')), LONGEST_WAIT);
    type(encoder.encode('\r\x03\r\x01'));
  }

  take(bytes) {
    this.pending += this.decoder.decode(bytes, { stream: true });
    while (this.step?.()) { /* as far as what came goes */ }
  }

  // What is before a word, or null while it has not come.
  #until(word) {
    const at = this.pending.indexOf(word);
    if (at < 0) return null;
    const before = this.pending.slice(0, at);
    this.pending = this.pending.slice(at + word.length);
    return before;
  }

  #banner() {
    if (this.#until(BANNER) === null) return false;
    this.type(this.code);
    this.type(encoder.encode(END));
    this.step = this.#accepted;
    return true;
  }

  #accepted() {
    if (this.#until('OK') === null) return false;
    clearTimeout(this.timer);
    this.step = this.#output;
    return true;
  }

  #output() {
    const at = this.pending.indexOf(END);
    const text = at < 0 ? this.pending : this.#until(END);
    if (at < 0) this.pending = '';
    if (text) this.show(text);
    if (at >= 0) this.step = this.#traceback;
    return at >= 0;
  }

  #traceback() {
    const text = this.#until(END);
    if (text === null) return false;
    this.error = text;
    if (text) this.show(text);
    this.type(encoder.encode('\x02'));
    this.step = this.#prompt;
    return true;
  }

  #prompt() {
    if (this.#until(PROMPT) === null) return false;
    this.show(`\r\n${PROMPT}`);
    this.step = null;
    this.finish({ error: this.error });
    return false;
  }

  // The board was switched off, or hangs.
  stop() {
    clearTimeout(this.timer);
    this.step = null;
    this.finish({ error: '', stopped: true });
  }
}
