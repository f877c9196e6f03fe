// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The serial console: xterm.js, and what the board said as text for those who ask.
import { Terminal } from '../xterm/xterm.mjs';

const KEPT = 1 << 20;

export class Console {
  constructor(element, onType) {
    this.said = '';
    element.text = () => this.said; // for whoever drives the page from outside
    this.decoder = new TextDecoder();
    this.terminal = new Terminal({
      cols: 80, rows: 20, fontSize: 13, screenReaderMode: true, scrollback: 5000,
      theme: { background: '#000000', foreground: '#e6edf0' },
    });
    this.terminal.open(element);
    this.terminal.onData((text) => onType(new TextEncoder().encode(text)));
    // Tab is for the REPL; Escape then Tab leaves, as the label says
    this.left = false;
    this.terminal.attachCustomKeyEventHandler((e) => this.#key(e));
    new ResizeObserver(() => this.#fit(element)).observe(element);
  }

  #key(e) {
    if (e.type !== 'keydown') return true;
    if (e.key === 'Tab' && this.left) return false;
    this.left = e.key === 'Escape' || (this.left && e.key === 'Shift');
    return true;
  }

  #fit(element) {
    const cell = element.querySelector('.xterm-screen')?.getBoundingClientRect();
    if (!cell?.width) return;
    const one = cell.width / this.terminal.cols;
    const cols = Math.floor((element.clientWidth - 30) / one);
    if (cols > 10 && cols !== this.terminal.cols) this.terminal.resize(cols, 20);
  }

  write(bytes) {
    this.terminal.write(bytes);
    this.said = (this.said + this.decoder.decode(bytes, { stream: true })).slice(-KEPT);
  }

  // A line of the page's own, dimmed.
  note(text) {
    this.write(new TextEncoder().encode(`\r\n\x1b[2m${text}\x1b[0m\r\n`));
  }

  clear() {
    this.terminal.reset();
    this.said = '';
  }
}
