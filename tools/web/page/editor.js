// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The script: a textarea with line numbers, a draft that outlives the tab, a link that carries it.

const code = document.getElementById('code'), lines = document.getElementById('lines');
const DRAFT = 'maixmem.draft.', MOST_DRAFTS = 5;
let marked = 0;

// Each tab keeps its own draft, so that two tabs do not write over each other.
function tab() {
  let name = sessionStorage.getItem('maixmem.tab');
  if (!name) {
    name = `${Date.now()}${Math.floor(Math.random() * 1000)}`;
    sessionStorage.setItem('maixmem.tab', name);
  }
  return name;
}

function drafts() {
  return Object.keys(localStorage).filter((k) => k.startsWith(DRAFT))
    .map((k) => [k, JSON.parse(localStorage.getItem(k))]).sort((a, b) => b[1].time - a[1].time);
}

function keep() {
  try {
    localStorage.setItem(DRAFT + tab(), JSON.stringify({ time: Date.now(), text: code.value }));
    for (const [k] of drafts().slice(MOST_DRAFTS)) localStorage.removeItem(k);
  } catch { /* no room, or not allowed: the text stays in the tab */ }
}

function number() {
  const n = code.value.split('\n').length;
  lines.replaceChildren(...Array.from({ length: n }, (_, i) => {
    const line = document.createElement(i + 1 === marked ? 'b' : 'span');
    line.textContent = `${i + 1}\n`;
    return line;
  }));
  lines.scrollTop = code.scrollTop;
}

export function text() { return code.value; }

function put(value) {
  code.value = value;
  marked = 0;
  number();
}

export function setText(value) {
  put(value);
  keep();
}

// Marks a line and brings it into view; 0: none.
export function mark(line) {
  marked = line;
  number();
  if (line) code.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(code).lineHeight));
}

function indent(e) {
  if (e.key === 'Escape') code.dataset.left = '1';
  if (e.key === 'Tab' && !e.shiftKey && !code.dataset.left) {
    e.preventDefault();
    code.setRangeText('    ', code.selectionStart, code.selectionEnd, 'end');
    code.dispatchEvent(new Event('input'));
  }
  if (e.key !== 'Escape' && e.key !== 'Shift') delete code.dataset.left;
}

async function packed(bytes, Kind) {
  const stream = new Blob([bytes]).stream().pipeThrough(new Kind('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The address of this page with the script in its fragment, which no server sees.
export async function link() {
  const small = await packed(new TextEncoder().encode(code.value), CompressionStream);
  const letters = btoa(String.fromCharCode(...small));
  const url = new URL(location.href);
  url.hash = `script=${letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  return url.href;
}

async function fromLink() {
  const found = /^#script=([\w-]+)$/.exec(location.hash);
  if (!found) return null;
  try {
    const letters = atob(found[1].replaceAll('-', '+').replaceAll('_', '/'));
    const small = Uint8Array.from(letters, (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await packed(small, DecompressionStream));
  } catch {
    return null;
  }
}

// Shows the script of the link, else the draft, else what is given.
export async function start(otherwise) {
  code.addEventListener('input', () => { marked = 0; number(); keep(); });
  code.addEventListener('scroll', () => { lines.scrollTop = code.scrollTop; });
  code.addEventListener('keydown', indent);
  const own = localStorage.getItem(DRAFT + tab());
  const draft = own ? JSON.parse(own) : drafts()[0]?.[1];
  put(await fromLink() ?? draft?.text ?? otherwise);
}
