// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Python in a worker of its own (desk/worker.js): asked with call(), which answers in order.
import { language } from './words.js';
import { worker } from './workers.js';

// on.progress(part), on.say(text): what it tells while it works; on.cable(bytes): for a board.
export class Desk {
  constructor(on) {
    this.on = on;
    this.waiting = new Map();
    this.files = new Map();
    this.#start();
  }

  #start() {
    this.next = 0;
    this.ready = false;
    this.language = null; // of what the commands say
    this.worker = worker('../desk/worker.js');
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = (e) => this.#fail(e.message ?? 'worker');
  }

  get busy() { return this.waiting.size > 0; }

  #take(data) {
    if (data.kind === 'progress') {
      this.on.progress(data.part);
    } else if (data.kind === 'say') {
      this.on.say(data.text);
    } else if (data.kind === 'cable') {
      this.on.cable(data.bytes);
    } else {
      this.ready = true;
      const { done, failed } = this.waiting.get(data.id) ?? {};
      this.waiting.delete(data.id);
      if (data.error === undefined) done?.({ result: data.result, bytes: data.bytes });
      else failed?.(new Error(data.error));
    }
  }

  #fail(text) {
    for (const { failed } of this.waiting.values()) failed(new Error(text));
    this.waiting.clear();
    this.on.progress(1);
  }

  // What a board said to the command that runs, and that its cable is gone.
  heard(bytes) { this.worker.postMessage({ heard: bytes }); }

  gone(why) { this.worker.postMessage({ gone: why }); }

  // Loads Python, which speaks the reader's language: takes seconds, that who is about to give a
  // file need not wait for.
  wake() {
    if (this.language === language()) return;
    this.language = language();
    this.#send('speak', [this.language]).catch(() => {}); // a call fails too
  }

  // A function of desk.py; its answer is {result, bytes}.
  call(name, args = [], transfer = []) {
    this.wake();
    return this.#send(name, args, transfer);
  }

  #send(name, args, transfer = []) {
    return new Promise((done, failed) => {
      const id = this.next++;
      this.waiting.set(id, { done, failed });
      this.worker.postMessage({ id, call: name, args }, transfer);
    });
  }

  // Puts a file where the commands find it, once for the same contents.
  async put(name, data) {
    if (this.files.get(name) === data) return;
    this.files.set(name, data);
    await this.call('put', [name, data]);
  }

  // Ends what runs. Python is loaded anew when it is needed, and gets its files again.
  stop(why) {
    this.worker.terminate();
    this.files.clear();
    this.#fail(why);
    this.#start();
  }
}
