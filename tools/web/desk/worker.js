// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Python with the project's own wheel, loaded when the first call comes. Takes messages
// {id, call, args}: a function of desk.py; says {id, result} or {id, error}, and while it works
// {kind: progress, part}, {kind: say, text} and, for a board at a cable, {kind: cable, bytes}; {heard}
// and {gone} are what that says.
import { call, core } from '../board/k210.js';

const here = (path) => new URL(`../${path}`, import.meta.url).href;
let python = null; // a promise of {py, desk}

// Brings a file and tells how far it is.
async function bring(path, told) {
  const answer = await fetch(here(path));
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  const reader = answer.body.getReader(), pieces = [];
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    pieces.push(step.value);
    told(step.value.length);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

async function load() {
  const wanted = await (await fetch(here('python.json'))).json();
  const all = wanted.files.reduce((n, f) => n + f.bytes, 0);
  let got = 0;
  const told = (n) => { got += n; postMessage({ kind: 'progress', part: 0.9 * got / all }); };
  const found = await Promise.all(wanted.files.map((f) => bring(f.name, told)));
  const { loadPyodide } = await import(here('pyodide/pyodide.mjs'));
  const py = await loadPyodide({ indexURL: here('pyodide/'), env: wanted.env });
  wanted.files.forEach((f, i) => {
    if (f.unpack) py.unpackArchive(found[i], 'zip', { extractDir: f.unpack });
  });
  const module = await WebAssembly.compileStreaming(fetch(here('k210.wasm')));
  py.registerJsModule('page', { new_core: () => coreForPython(module), say, type, heard });
  py.FS.mkdirTree('/desk');
  py.FS.writeFile('/lib/maixmem/desk.py', await (await fetch(here('desk/desk.py'))).text());
  py.runPython("import os, sys; sys.path[:0] = ['/lib/maixmem']; os.chdir('/desk')");
  return { py, desk: py.pyimport('desk') };
}

// The board's cable. Python waits for it where the browser can hold its stack (JSPI).
const cable = { came: [], gone: null, wake: () => {} };

function type(bytes) { postMessage({ kind: 'cable', bytes: bytes.slice() }); }

// What came, after at most so many ms; or why nothing will any more.
async function heard(ms) {
  if (!cable.came.length && !cable.gone) {
    await new Promise((done) => { cable.wake = done; setTimeout(done, ms); });
  }
  if (!cable.came.length && cable.gone) return cable.gone;
  return new Uint8Array(await new Blob(cable.came.splice(0)).arrayBuffer());
}

function say(text) { postMessage({ kind: 'say', text }); }

// A board of Python's own: what tools/maixmem_cli/emulator/cores.py calls a Core.
function coreForPython(module) {
  const { exports } = new WebAssembly.Instance(module, {});
  exports._initialize();
  return {
    call: (name, ...numbers) => call(exports, name, ...numbers),
    read: (at, size) => new Uint8Array(exports.memory.buffer, at, size),
    write: (at, data) => new Uint8Array(exports.memory.buffer).set(data, at),
  };
}

async function answer({ id, call: name, args }) {
  try {
    python ??= load();
    const { py, desk } = await python;
    postMessage({ kind: 'progress', part: 1 });
    if (name === 'put') {
      py.FS.writeFile(`/desk/${args[0]}`, args[1]);
      postMessage({ id, result: null });
      return;
    }
    Object.assign(cable, { came: [], gone: null });
    const given = args.map((a) => py.toPy(a));
    const told = await (WebAssembly.Suspending ? desk[name].callPromising(...given) : desk[name](...given));
    for (const a of given) a?.destroy?.();
    const result = JSON.parse(told[0]), bytes = told[1]?.toJs?.() ?? null;
    told.destroy();
    postMessage({ id, result, bytes });
  } catch (e) {
    if (python && !(await python.catch(() => null))) python = null; // try again when asked again
    postMessage({ id, error: String(e.message ?? e).trim().split('\n').pop() }); // of a traceback
  }
}

let last = Promise.resolve(); // calls are answered one after the other
addEventListener('message', ({ data }) => {
  if (data.heard) cable.came.push(data.heard);
  if (data.gone) cable.gone = data.gone;
  if (data.heard || data.gone) cable.wake();
  else last = last.then(() => answer(data));
});
