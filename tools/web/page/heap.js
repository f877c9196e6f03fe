// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The tab of the heap: who holds it on the board in this page, or on one by its cable. Each button
// is a command of `maixmem` to a port that is called page:, and what it prints is shown as it is.
import { Console } from './console.js';
import { PageCable, UsbCable, hasSerial } from './cable.js';
import { say } from './words.js';

const $ = (id) => document.getElementById(id);
const PORT = 'page:', REPORT = 'heap.html';

// Owns the cable to a board on USB; the one to the board in this page is there while a command
// uses it. `taken`: the names of the snapshots, which lie where Python finds them.
export class HeapTab {
  constructor({ desk, tools, board, files }) {
    Object.assign(this, { desk, tools, board, files, usb: null, asked: false, taken: [] });
    desk.on.cable = (bytes) => this.cable?.write(bytes);
    $('heap-connect').addEventListener('click', () => this.#connect());
    $('heap-leave').addEventListener('click', () => this.#leave());
    $('heap-go').addEventListener('click', () => this.#snapshot());
    $('heap-diff').addEventListener('click', () => this.#difference());
    $('heap-why').addEventListener('click', () => this.#way());
    $('heap-doctor').addEventListener('click', () => this.#ask(['doctor', '--port', PORT]));
    $('heap-deploy').addEventListener('click', () => this.#ask(['deploy', '--port', PORT]));
    $('heap-saved').addEventListener('change', () => this.#open([...$('heap-saved').files]));
    $('heap-shown').addEventListener('change', () => this.#show($('heap-shown').value));
    document.addEventListener('words', () => this.show());
    this.show();
  }

  // --- the cable ---

  async #connect() {
    this.#tell('');
    try {
      const cable = await UsbCable.choose();
      if (!cable) return;
      await cable.open((bytes) => this.#heard(bytes), (why) => this.#gone(why));
      this.usb = cable;
      $('usb').hidden = false;
      this.console ??= new Console($('usb-console'), (bytes) => this.usb?.write(bytes));
      this.console.clear();
      await cable.write(new TextEncoder().encode('\r\n'));
    } catch (e) {
      this.#tell(say('cannotConnect', { text: e.message }));
    }
    this.show();
  }

  async #leave() {
    await this.usb?.close();
    this.usb = null;
    this.show();
  }

  // For Python while a command runs, else for the eye.
  #heard(bytes) {
    if (!this.asked) {
      this.console?.write(bytes);
      return;
    }
    this.count += bytes.length;
    this.show();
    this.desk.heard(bytes);
  }

  #gone(why) {
    this.usb?.close();
    this.usb = null;
    this.desk.gone(why);
    this.#tell(say('cablePulled'));
    this.show();
  }

  // Which board the buttons are for, and what of them can be used.
  show() {
    const there = this.usb || this.files.firmware;
    $('heap-serial').hidden = hasSerial();
    $('heap-connect').hidden = !hasSerial() || this.usb !== null;
    $('heap-leave').hidden = !this.usb;
    for (const id of ['heap-go', 'heap-doctor', 'heap-deploy']) $(id).disabled = !there || this.asked;
    $('heap-connect').disabled = $('heap-leave').disabled = this.asked;
    $('heap-diff').disabled = this.taken.length < 2;
    $('heap-why').disabled = $('heap-save').hidden = !this.taken.length;
    $('heap-list').hidden = !this.taken.length;
    const name = this.usb?.name ?? (there ? say('boardHere') : say('noBoard'));
    $('heap-state').textContent = this.asked
      ? say('heapReads', { name, kib: (this.count / 1024).toFixed(0) }) : name;
    $('heap-state').dataset.board = this.usb ? 'usb' : there ? 'page' : '';
  }

  #tell(text) {
    $('heap-told').hidden = !text;
    $('heap-told').textContent = text;
  }

  // --- the commands ---

  // A command that talks to the board; its result, or null.
  async #ask(words, more = {}) {
    this.#tell('');
    if (!this.usb && this.board.state === 'hangs') {
      this.#tell(say('hangsNow'));
      return null;
    }
    this.cable = this.usb ?? new PageCable(this.board);
    try {
      if (!this.usb && !['prompt', 'running'].includes(this.board.state)) await this.board.powerOn();
      this.asked = true;
      this.count = 0;
      this.show();
      if (!this.usb) await this.cable.open((bytes) => this.#heard(bytes));
      return await this.tools.run(words, 'heap-said', more);
    } finally {
      this.asked = false;
      if (!this.usb) await this.cable.close();
      this.cable = this.usb;
      this.show();
    }
  }

  get #report() { return { report: REPORT, frame: $('heap-report') }; }

  async #snapshot() {
    const name = `${this.taken.length + 1}.heap`;
    const words = ['heap', PORT, '--save', name, '--html', REPORT];
    const result = await this.#ask(words, this.#report);
    if (result?.status === 0) await this.#keep(name);
  }

  async #keep(name) {
    this.taken.push(name);
    const options = () => this.taken.map((n) => new Option(n));
    for (const [id, back] of [['heap-shown', 1], ['heap-before', 2], ['heap-after', 1]]) {
      $(id).replaceChildren(...options());
      $(id).value = this.taken.at(-back) ?? name;
    }
    await this.#link(name);
    this.show();
  }

  async #link(name) {
    const { bytes } = await this.desk.call('content', [name]);
    URL.revokeObjectURL($('heap-save').href);
    $('heap-save').href = URL.createObjectURL(new Blob([bytes]));
    $('heap-save').download = name;
  }

  async #open(files) {
    for (const file of files) {
      const name = `${this.taken.length + 1} ${file.name}`;
      await this.desk.put(name, new Uint8Array(await file.arrayBuffer()));
      const result = await this.tools.run(['heap', name, '--html', REPORT], 'heap-said', this.#report);
      if (result?.status === 0) await this.#keep(name);
    }
    $('heap-saved').value = '';
  }

  async #show(name) {
    await this.tools.run(['heap', name, '--html', REPORT], 'heap-said', this.#report);
    await this.#link(name);
  }

  #difference() {
    const words = ['heap', '--diff', $('heap-before').value, $('heap-after').value];
    return this.tools.run(words, 'heap-said');
  }

  #way() {
    const wanted = $('heap-path').value.trim() || 'main';
    return this.tools.run(['heap', $('heap-shown').value, '--path', wanted], 'heap-said');
  }
}
