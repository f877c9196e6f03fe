#!/usr/bin/env node
// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Runs a script on the MicroPython of PyScript (npm @micropython/micropython-webassembly-pyscript).
//   node pyscript.mjs [-X heapsize=512k] [-I DIR]... FILE.py
// Its collector works only when Python has returned to JavaScript: each paragraph of the script (what
// is between empty lines) is a call of its own. Every .py under each -I DIR can be imported. PYSCRIPT
// names the package's folder. Exit status: 1 uncaught exception, 2 bad usage.
import fs from 'fs';
import path from 'path';
import { pathToFileURL } from 'url';

let heapsize = 512 << 10, file = null;
const folders = [];
for (let a = process.argv.slice(2); a.length;) {
  const word = a.shift();
  if (word === '-X') heapsize = parseInt(a.shift().split('=')[1], 10) << 10;
  else if (word === '-I') folders.push(a.shift());
  else file = word;
}
if (!file) { console.error('pyscript: no script'); process.exit(2); }

const place = path.resolve(process.env.PYSCRIPT);
const { loadMicroPython } = await import(pathToFileURL(path.join(place, 'micropython.mjs')));
const vm = await loadMicroPython({
  heapsize, url: path.join(place, 'micropython.wasm'), linebuffer: true,
  stdout: line => fs.writeSync(1, line + '\n'),
});

globalThis.memoryBytes = () => vm._module.HEAPU8.length; // what the system gave so far: `import js`

function copy(folder) {
  vm.FS.mkdirTree(folder);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory() && fs.existsSync(path.join(name, '__init__.py'))) copy(name);
    else if (entry.name.endsWith('.py')) vm.FS.writeFile(name, fs.readFileSync(name));
  }
}
folders.forEach(copy);
vm.runPython(`import sys\nsys.path[:] = ${JSON.stringify(folders)}`);
try {
  for (const part of fs.readFileSync(file, 'utf8').split(/\n\n+/)) vm.runPython(part);
} catch (e) {
  fs.writeSync(1, String(e.message) + '\n');
  process.exit(1);
}
