#!/usr/bin/env node
// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Raspberry Pi Pico in software (npm rp2040js@1.4.1) whose USB serial port is a TCP port.
//   node pico.mjs --rom ROM [--flash FILE] [--port N] [--ram FILE] [IMAGE.uf2]...
// ROM is the RP2040's boot ROM: 16 KiB as they are, or text with its words as 0x numbers. FILE keeps
// the 2 MiB of flash from run to run. Prints "socket://127.0.0.1:N" when the board is on the bus,
// and runs until a signal; SIGUSR2 writes the RAM from 0x20000000 on to FILE. RP2040JS names the package's folder. Exit status 2: bad usage.
import fs from 'fs';
import net from 'net';
import path from 'path';
import { pathToFileURL } from 'url';

const FLASH_BYTES = 2 << 20;
const FLASH_START = 0x10000000;
const XIP_END = 0x14000000;
const ROM_WORDS = 4096;
const SLICE = 100000; // instructions between two looks at the network
const CYCLE_NANOS = 8; // 125 MHz
const [FIFO_ST, FIFO_WR, FIFO_RD] = [0x50, 0x54, 0x58]; // of SIO
const PROC1 = 1 << 16; // in the PSM's FRCE_OFF
const IDLE_NANOS = 1e6; // a step of a processor that waits, where no alarm comes before
const RECOVERY_NANOS = 10e6; // TRSTRCY of USB 2.0
const IDLE_TURNS = 10; // such steps, then the desk gets a millisecond of rest
// A host ends a transfer by a packet of fewer than 64 bytes, at the end of each write; here writes
// come joined, and MicroPython 1.17 and 1.18 wait for that end: no packet is a full one.
const USB_PACKET = 63;

const die = text => { console.error('pico: ' + text); process.exit(2); };

console.warn = console.info = console.debug = () => {};

const options = { images: [] };
for (let a = process.argv.slice(2); a.length;) {
  const word = a.shift();
  if (['--rom', '--flash', '--port', '--ram'].includes(word)) options[word.slice(2)] = a.shift();
  else options.images.push(word);
}
if (!options.rom) die('no --rom');

const folder = process.env.RP2040JS || 'node_modules/rp2040js';
const { ConsoleLogger, LogLevel, RP2040, USBCDC } =
  await import(pathToFileURL(path.resolve(folder, 'dist/esm/index.js')));

// --- what the user names ---

function readRom(file) {
  const bytes = fs.readFileSync(file);
  const words = bytes.length === 4 * ROM_WORDS ? new Uint32Array(new Uint8Array(bytes).buffer)
    : Uint32Array.from(bytes.toString('latin1').match(/0x[0-9a-fA-F]{8}\b/g) || [], Number);
  if (words.length !== ROM_WORDS) die(`${file}: not a boot ROM of ${ROM_WORDS} words`);
  return words;
}

function flashImage(flash, file) {
  const data = fs.readFileSync(file);
  for (let at = 0; at + 512 <= data.length; at += 512) {
    const word = i => data.readUInt32LE(at + 4 * i);
    if (word(0) !== 0x0a324655 || word(1) !== 0x9e5d5157) die(`${file}: no UF2 block at ${at}`);
    if (word(2) & 0x2000 && word(7) !== 0xe48bff56) die(`${file}: not for the RP2040`);
    if (!(word(2) & 1)) flash.set(data.subarray(at + 32, at + 32 + word(4)), word(3) - FLASH_START);
  }
}

const rom = readRom(options.rom);
let flash = new Uint8Array(FLASH_BYTES).fill(0xff);
if (options.flash && fs.existsSync(options.flash)) flash.set(fs.readFileSync(options.flash));
options.images.forEach(file => flashImage(flash, file));

// --- flash: the boot ROM's functions for it, done at their first instruction ---

const erase = (chip, [offset, count]) => chip.flash.fill(0xff, offset, offset + count);
function program(chip, [offset, data, count]) {
  for (let i = 0; i < count; i++) chip.flash[offset + i] &= chip.readUint8(data + i);
}
// connect, exit from memory mapping, erase, program, flush the cache, into memory mapping
const FLASH_CALLS = { IF: null, EX: null, RE: erase, RP: program, FC: null, CX: null };
const CALLS = Object.entries(FLASH_CALLS);

// The ROM with a break instruction, whose number is the place in CALLS, where each call begins.
function patched() {
  const copy = rom.slice();
  const half = new Uint16Array(copy.buffer);
  for (let at = half[0x14 / 2] / 2; half[at]; at += 2) {
    const name = String.fromCharCode(half[at] & 0xff, half[at] >> 8);
    const place = CALLS.findIndex(call => call[0] === name);
    if (place >= 0) half[(half[at + 1] & ~1) / 2] = 0xbe00 | place;
  }
  return copy;
}

function onBreak(chip, number) {
  const { core } = chip;
  CALLS[number]?.[1]?.(chip, core.registers);
  core.PC = core.LR & ~1;
}

// --- the chip, new at each reset; its serial port ---

let client = null, incoming = [], wanted = 0, chip, cdc, rebooting = false;

function feed() {
  if (!wanted || !incoming.length) return;
  const data = Uint8Array.from(incoming.splice(0, Math.min(wanted, USB_PACKET)));
  wanted = 0;
  chip.usbCtrl.endpointReadDone(cdc.outEndpoint, data);
}

// The second core says 0 when it comes out of its reset, which is all that it does here: rp2040js
// has none, and MicroPython waits for that word at every soft reset.
function secondCore({ sio, peripherals }) {
  const words = [];
  const power = peripherals[0x40010];
  const [read, write, switched] = [sio.readUint32, sio.writeUint32, power.writeUint32];
  power.writeUint32 = function (offset, value) {
    const off = this.frceOff & PROC1;
    switched.call(this, offset, value);
    if (off && !(this.frceOff & PROC1)) words.splice(0, words.length, 0);
  };
  sio.readUint32 = function (offset) {
    if (offset === FIFO_ST) return (words.length ? 1 : 0) | 2;
    return offset === FIFO_RD ? words.shift() ?? 0 : read.call(this, offset);
  };
  sio.writeUint32 = function (offset, value) {
    if (offset !== FIFO_ST && offset !== FIFO_WR) write.call(this, offset, value);
  };
}

// A store to the flash does nothing, as on the chip; rp2040js 1.4.1 takes it, and CircuitPython
// before 8.2 clears memory there while it starts: the next start would be without its code.
function readOnly(chip) {
  for (const name of ['writeUint8', 'writeUint16', 'writeUint32']) {
    const write = chip[name];
    chip[name] = function (address, value) {
      if (address < FLASH_START || address >= XIP_END) write.call(this, address, value);
    };
  }
}

// Of two buffers that are given at once, rp2040js 1.4.1 delivers the second first.
function inOrder(usb) {
  const updated = usb.DPRAMUpdated.bind(usb);
  usb.DPRAMUpdated = (offset, value) => {
    const buffers = usb.endpointWriteAlarms[(offset - 0x80) >> 3]?.buffers;
    const before = buffers?.length;
    updated(offset, value);
    if (buffers?.length === before + 2) buffers.push(buffers.splice(before, 1)[0]);
  };
}

function powerOn(scratch) {
  chip = new RP2040();
  chip.logger = new ConsoleLogger(LogLevel.Error, false);
  chip.logger.error = () => {};
  chip.loadBootrom(patched());
  chip.flash.set(flash);
  flash = chip.flash;
  const board = chip;
  chip.onBreak = number => onBreak(board, number);
  const watchdog = chip.peripherals[0x40058];
  if (scratch) watchdog.scratchData.set(scratch);
  watchdog.onWatchdogTrigger = () => { rebooting = true; };
  wanted = 0;
  cdc = new USBCDC(chip.usbCtrl);
  chip.usbCtrl.onEndpointRead = (endpoint, size) => { // a packet goes when there is one
    if (endpoint === cdc.outEndpoint) { wanted = size; feed(); }
  };
  cdc.onSerialData = data => client?.write(Buffer.from(data));
  cdc.onDeviceConnected = ready;
  inOrder(chip.usbCtrl);
  secondCore(chip);
  readOnly(chip);
  const { onResetReceived } = chip.usbCtrl; // a host lets a device recover before it speaks to it
  const recovered = chip.clock.createAlarm(onResetReceived);
  chip.usbCtrl.onResetReceived = () => recovered.schedule(RECOVERY_NANOS);
  chip.core.PC = FLASH_START;
}

function run() {
  if (rebooting) {
    rebooting = false;
    powerOn(chip.peripherals[0x40058].scratchData);
  }
  const { core, clock } = chip;
  let idle = 0;
  for (let i = 0; i < SLICE && !rebooting; i++) {
    if (core.waiting) {
      clock.tick(Math.min(clock.nanosToNextAlarm || IDLE_NANOS, IDLE_NANOS));
      if (++idle === IDLE_TURNS) break;
    } else {
      clock.tick(core.executeInstruction() * CYCLE_NANOS);
    }
  }
  feed();
  if (idle === IDLE_TURNS && !incoming.length) setTimeout(run, 1);
  else setImmediate(run);
}

const server = net.createServer(socket => {
  client?.destroy();
  client = socket;
  incoming = [];
  socket.setNoDelay(true);
  socket.on('data', data => { incoming.push(...data); });
  socket.on('error', () => {});
  socket.on('close', () => { if (client === socket) client = null; });
});

function ready() {
  if (server.listening) return;
  server.listen(Number(options.port || 0), '127.0.0.1', () => {
    console.log(`socket://127.0.0.1:${server.address().port}`);
  });
}

function leave() {
  if (options.flash) fs.writeFileSync(options.flash, chip.flash.subarray(0, FLASH_BYTES));
  process.exit(0);
}
process.on('SIGUSR2', () => { // whole when it has this name
  fs.writeFileSync(options.ram + '~', chip.sram);
  fs.renameSync(options.ram + '~', options.ram);
});
process.on('SIGTERM', leave);
process.on('SIGINT', leave);
powerOn();
run();
