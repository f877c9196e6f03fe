// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Reads kmodels with the reader of the netron package: node netron_kmodel.mjs NETRON_FOLDER FILE...
// Prints one line of JSON for each file: {file, version, layers: [names], outputs: [...]} or {file, error}.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...files] = process.argv.slice(2);
const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'netron-'));
process.on('exit', () => fs.rmSync(temp, { recursive: true, force: true }));
fs.writeFileSync(path.join(temp, 'package.json'), '{"type": "module"}');
for (const name of ['kmodel.js', 'base.js']) {
    fs.copyFileSync(path.join(folder, name), path.join(temp, name));
}
const { ModelFactory } = await import(pathToFileURL(path.join(temp, 'kmodel.js')));

// What netron's readers ask of a stream, over a buffer.
class Stream {
    constructor(data) {
        this.data = data;
        this.length = data.length;
        this.position = 0;
    }
    seek(position) {
        this.position = position >= 0 ? position : this.length + position;
    }
    skip(n) {
        this.position += n;
    }
    peek(n) {
        return this.data.subarray(this.position, n === undefined ? this.length : this.position + n);
    }
    read(n) {
        const piece = this.peek(n);
        this.position += piece.length;
        return piece;
    }
    stream(n) {
        return new Stream(this.read(n));
    }
}

const plain = (value) => JSON.parse(JSON.stringify(value, (key, v) => (typeof v === 'bigint' ? Number(v) : v)));

for (const file of files) {
    const found = { file };
    try {
        const context = { stream: new Stream(new Uint8Array(fs.readFileSync(file))), set: (type, value) => value };
        const reader = await new ModelFactory().match(context);
        if (!reader) {
            throw new Error('not recognised');
        }
        reader.read();
        found.version = reader.version;
        const all = reader.modules.flatMap((m) => m.layers);
        const named = all.map((l) => [((l.type && l.type.name) || String(l.type)).toLowerCase(), l]);
        found.layers = named.map(([name]) => name).filter((name) => name !== 'input' && name !== 'output');
        const ends = named.filter(([name]) => name === 'output').map(([, l]) => l);
        found.outputs = plain(ends.flatMap((l) => l.inputs || []).flatMap((a) => a.value));
    } catch (e) {
        found.error = String(e.message || e);
    }
    console.log(JSON.stringify(found));
}
