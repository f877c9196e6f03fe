// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Both heaps by address, as Python read them (maps.as_json), with the line that owns a chunk.
import { say } from './words.js';

const system = document.getElementById('system-heap'), gc = document.getElementById('gc-heap');
const owner = document.getElementById('owner');
const BLOCK = 32, ROWS = 16;
let found = null, owners = {}, cursor = null; // cursor: the address that is pointed at

function colour(name) { return getComputedStyle(document.body).getPropertyValue(`--${name}`); }

function kib(n) {
  return n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}

function drawSystem(heap) {
  const to = system.getContext('2d'), { width, height } = system;
  const span = heap.end + heap.heap_free - heap.base;
  to.fillStyle = colour('top');
  to.fillRect(0, 0, width, height);
  const colours = { true: colour('used'), false: colour('hole') };
  let used = 0;
  for (const c of heap.chunks) {
    const x = (c.address - 16 - heap.base) / span * width;
    to.fillStyle = colours[c.used];
    to.fillRect(x, 0, Math.max(0.5, c.size / span * width), height);
    if (c.used) used += c.size;
  }
  const holes = heap.chunks.filter((c) => !c.used).length;
  tell(system, 'systemHeapNow', {
    used: kib(used), free: kib(span - used), largest: kib(heap.largest), holes,
  });
}

function drawGc(heap) {
  const to = gc.getContext('2d'), { width, height } = gc, row = height / ROWS;
  const cells = width / 4 * ROWS, per = heap.total / BLOCK / cells;
  to.fillStyle = colour('hole');
  to.fillRect(0, 0, width, height);
  to.fillStyle = colour('used');
  let at = 0;
  for (const { used, blocks } of heap.runs) {
    const first = Math.floor(at / per), last = Math.ceil((at + blocks) / per);
    for (let i = first; used && i < last; i++) {
      to.fillRect(i % (width / 4) * 4, Math.floor(i / (width / 4)) * row, 3, row - 1);
    }
    at += blocks;
  }
  tell(gc, 'gcHeapNow', { used: kib(heap.used), free: kib(heap.free), largest: kib(heap.largest) });
}

function tell(canvas, key, values) {
  const text = say(key, values);
  document.getElementById(`${canvas.id}-text`).textContent = text;
  canvas.setAttribute('aria-label', `${say(key.replace('Now', ''))}: ${text}`);
}

export function draw(data) {
  found = data;
  drawSystem(data.heap);
  drawGc(data.gc);
  show();
  system.dataset.drawn = Number(system.dataset.drawn ?? 0) + 1;
}

// {address: line}, of chunks that were asked for since the script began.
export function setOwners(names) {
  owners = names;
  system.dataset.owners = Object.keys(names).length;
  show();
}

// Whether somebody points at a chunk.
export function pointed() { return system.matches(':hover, :focus'); }

function chunkText(c) {
  const where = `0x${c.address.toString(16)}`, size = kib(c.size);
  if (!c.used) return say('holeAt', { where, size });
  const inside = found.gc.pool >= c.address && found.gc.pool < c.address + c.size;
  const by = inside ? say('isGcHeap') : owners[c.address] ?? say('beforeScript');
  return say('chunkAt', { where, size, by });
}

// The chunk that is pointed at; -1: what is above all of them.
function index() {
  return found.heap.chunks.findIndex((c) => cursor >= c.address && cursor < c.address + c.size);
}

function show() {
  if (!found || cursor === null) return;
  const { heap } = found, i = index();
  owner.textContent = i < 0 ? say('topAt', { size: kib(heap.top + heap.heap_free) })
    : chunkText(heap.chunks[i]);
}

function point(e) {
  if (!found) return;
  const { heap } = found, span = heap.end + heap.heap_free - heap.base;
  cursor = heap.base + 16 + e.offsetX / system.clientWidth * span;
  show();
}

function step(e) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!by || !found) return;
  e.preventDefault();
  const { chunks } = found.heap, i = index();
  cursor = chunks[Math.max(0, Math.min(chunks.length - 1, i + by))].address;
  show();
}

// Pointer and arrow keys name the chunks; onLook is called before, to ask for their owners.
export function start(onLook) {
  system.addEventListener('pointerenter', onLook);
  system.addEventListener('focus', onLook);
  system.addEventListener('pointermove', point);
  system.addEventListener('keydown', step);
}
