// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What a board is reached by: its bytes out and in. Two kinds with one interface: the board in this
// page, and one on USB by Web Serial (Chrome, Edge).
//   open(take, gone)  its bytes go to take(bytes); gone(why) is called once when it is pulled
//   write(bytes), close()
import { say } from './words.js';

const SPEED = 115200;

// Whether this browser reaches real boards.
export const hasSerial = () => 'serial' in navigator;

// The board in this page: it goes on when the cable is closed.
export class PageCable {
  constructor(board) {
    this.board = board;
    this.name = say('boardHere');
  }

  async open(take) { this.board.lend(take); }

  async write(bytes) { this.board.type(bytes); }

  async close() { this.board.lend(null); }
}

// A port that the user chose.
export class UsbCable {
  constructor(port) {
    this.port = port;
    const { usbVendorId: vendor, usbProductId: product } = port.getInfo();
    const hex = (n) => n.toString(16).padStart(4, '0');
    this.name = vendor === undefined ? 'USB' : `USB ${hex(vendor)}:${hex(product)}`;
  }

  // The browser's own dialogue; null when nothing was chosen there.
  static async choose() {
    try {
      return new UsbCable(await navigator.serial.requestPort());
    } catch (e) {
      if (e.name === 'NotFoundError') return null;
      throw e;
    }
  }

  async open(take, gone) {
    await this.port.open({ baudRate: SPEED, bufferSize: 1 << 16 });
    // both lines at once, as mpremote sets them: one after the other resets some boards
    await this.port.setSignals?.({ dataTerminalReady: true, requestToSend: true }).catch(() => {});
    this.writer = this.port.writable.getWriter();
    this.gone = gone;
    this.reading = this.#read(take);
  }

  async #read(take) {
    let why = '';
    try {
      this.reader = this.port.readable.getReader();
      for (let got = await this.reader.read(); !got.done; got = await this.reader.read()) {
        take(got.value);
      }
    } catch (e) {
      why = e.message;
    }
    this.#end(why);
  }

  #end(why) {
    const { gone } = this;
    this.gone = null;
    gone?.(why || 'it was pulled');
  }

  async write(bytes) {
    try {
      await this.writer.write(bytes);
    } catch (e) {
      this.#end(e.message);
    }
  }

  async close() {
    this.gone = null;
    await this.reader?.cancel().catch(() => {});
    await this.reading;
    this.reader?.releaseLock();
    this.writer?.releaseLock();
    await this.port.setSignals?.({ requestToSend: false }).catch(() => {});
    await this.port.close().catch(() => {});
  }
}
