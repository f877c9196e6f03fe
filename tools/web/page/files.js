// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The user's files: what each is for, where models go in flash, and what Python says of that.
// They stay in this tab.
import { say } from './words.js';

const LARGEST = 64 << 20; // bytes: more than any chip, and as much as a card here holds
const ENDINGS = [
  ['model', /\.[ks]model$/i], ['module', /\.(py|mpy)$/i], ['picture', /\.(png|jpe?g|ppm|bmp|webp|gif)$/i],
  ['project', /\.toml$/i], ['text', /\.(txt|log)$/i], ['firmware', /\.bin$/i], ['package', /\.kfpkg$/i],
];
const ROLES = ['firmware', 'model', 'package', 'module', 'card', 'picture'];
const table = document.getElementById('list'), findings = document.getElementById('findings');

// Owns the list. on.code() is the script, which says where it wants its models; on.change() is
// called when anything is other than it was, on.script, on.project and on.text get the text of such
// a file. Changes are made one after the other: `settled` is the last of them.
export class Files {
  constructor(desk, on) {
    this.desk = desk;
    this.on = on;
    this.all = [];
    this.errors = [];
    this.told = [];
    this.settled = Promise.resolve();
    this.pending = 0;
    this.count = 0;
    document.addEventListener('words', () => this.show());
    this.#dropping();
  }

  #dropping() {
    const drop = document.getElementById('drop'), choose = document.getElementById('choose');
    choose.addEventListener('change', () => {
      this.take([...choose.files]);
      choose.value = '';
    });
    choose.addEventListener('click', () => this.desk.wake());
    addEventListener('dragenter', () => this.desk.wake());
    addEventListener('dragover', (e) => { e.preventDefault(); drop.classList.add('over'); });
    addEventListener('dragleave', (e) => { if (!e.relatedTarget) drop.classList.remove('over'); });
    addEventListener('drop', (e) => {
      e.preventDefault();
      drop.classList.remove('over');
      dropped(e.dataTransfer).then((files) => this.take(files));
    });
  }

  of(role) { return this.all.filter((f) => f.role === role); }

  get firmware() { return this.of('firmware')[0] ?? null; }

  // What goes to the flash beside the firmware: [address, name].
  get placed() {
    return [...this.of('model'), ...this.of('package')]
      .filter((f) => f.role === 'package' || f.at !== null).map((f) => [f.at ?? 0, f.name]);
  }

  // What is on the board, as a text: another one for other files or places.
  get contents() {
    return JSON.stringify(this.all.map((f) => [f.number, f.role, f.at]));
  }

  // Models that have no place in flash.
  get unplaced() { return this.of('model').filter((f) => f.at === null).map((f) => f.name); }

  // Settles when all that was dropped is taken, and each model has its place for the script.
  async ready() {
    for (let last = null; last !== this.settled;) {
      last = this.settled;
      await last;
    }
    if (this.placedFor !== this.on.code() && this.of('model').length) await this.changed();
  }

  #then(change) {
    this.pending++;
    this.settled = this.settled.then(change).catch((e) => {
      this.errors.push(e.message);
      this.show();
    }).finally(() => { this.pending--; });
    return this.settled;
  }

  // Takes File objects; says of each that cannot be used why.
  take(files) {
    this.desk.wake();
    return this.#then(() => this.#take(files));
  }

  async #take(files) {
    this.errors = [];
    for (const file of files) {
      if (file.size > LARGEST) {
        this.errors.push(say('tooLarge', { name: file.name, size: Math.round(file.size / 1e6) }));
      } else if (!file.size) {
        this.errors.push(say('empty', { name: file.name }));
      } else {
        await this.#one(file);
      }
    }
    await this.#changed();
  }

  async #one(file) {
    let data;
    try {
      data = new Uint8Array(await file.arrayBuffer());
    } catch (e) {
      this.errors.push(say('unreadable', { name: file.name, why: e.message }));
      return;
    }
    const role = ENDINGS.find(([, ending]) => ending.test(file.name))?.[0] ?? 'card';
    if (role === 'project' || role === 'text' || file.name === 'main.py') {
      this.on[role === 'module' ? 'script' : role](new TextDecoder().decode(data));
    } else {
      await this.add(file.name, data, role);
    }
  }

  // Adds a file, or puts it in the place of the one with its name. FILE@0x300000.kmodel has its
  // address in its name.
  async add(name, data, role, at = null) {
    const said = /@(0x[0-9a-f]+)/i.exec(name), place = said ? Number(said[1]) : at;
    if (role === 'firmware') this.all = this.all.filter((f) => f.role !== 'firmware');
    const found = { name, data, role, at: place, own: place !== null, number: this.count++ };
    this.all = [...this.all.filter((f) => f.name !== name), found];
    this.show();
    if (role === 'package') found.role = await this.#package(found);
  }

  async #package(file) {
    await this.desk.put(file.name, file.data);
    const { result } = await this.desk.call('holds_firmware', [file.name]);
    if (result) this.all = this.all.filter((f) => f.role !== 'firmware');
    return result ? 'firmware' : 'package';
  }

  changed() { return this.#then(() => this.#changed()); }

  async #changed() {
    this.show();
    if (this.pending > 1) return; // what comes next does it for all
    try {
      await this.#place();
    } catch (e) {
      this.errors.push(e.message);
    }
    this.show();
    this.on.change();
  }

  // Puts everything where Python finds it.
  async send() {
    for (const f of this.all) await this.desk.put(f.name, f.data);
  }

  async #place() {
    const models = [...this.of('model'), ...this.of('package')], code = this.on.code();
    this.told = [];
    if (!models.length) return;
    await this.send();
    const items = models.map((f) => (f.own ? `${f.name}@0x${f.at.toString(16)}` : f.name));
    const { result } = await this.desk.call('places', [this.firmware?.name ?? '', items, code]);
    for (const f of models) if (!f.own) f.at = result.places[f.name] ?? null;
    this.told = result.findings.map(([what, text]) => `${what}: ${text}`);
    if (result.unsure.length) this.told.push(say('unsure', { names: result.unsure.join(', ') }));
    this.placedFor = code;
  }

  show() {
    table.hidden = !this.all.length;
    table.tBodies[0].replaceChildren(...this.all.map((f) => this.#row(f)));
    const told = [...this.errors, ...this.told];
    findings.replaceChildren(...told.map((text) => {
      const p = document.createElement('p');
      p.className = 'finding';
      p.textContent = text;
      return p;
    }));
    document.getElementById('no-firmware').hidden = !!this.firmware;
  }

  #row(file) {
    const row = document.createElement('tr');
    row.append(cell(file.name), cell(`${(file.data.length / 1024).toFixed(1)} KiB`),
      cell(this.#role(file)), cell(this.#address(file)), cell(this.#remove(file)));
    return row;
  }

  #role(file) {
    const select = document.createElement('select');
    select.setAttribute('aria-label', say('useOf', { name: file.name }));
    select.append(...ROLES.map((role) => new Option(say(role), role, false, role === file.role)));
    select.addEventListener('change', () => { file.role = select.value; this.changed(); });
    return select;
  }

  #address(file) {
    if (file.role === 'firmware') return '0x000000';
    if (file.role !== 'model') return { module: '/flash', card: '/sd' }[file.role] ?? '';
    const input = document.createElement('input');
    input.className = 'place';
    input.setAttribute('aria-label', say('placeOf', { name: file.name }));
    input.value = file.at === null ? '' : `0x${file.at.toString(16).padStart(6, '0')}`;
    input.addEventListener('change', () => {
      const at = Number(input.value);
      file.own = Number.isInteger(at) && at > 0;
      file.at = file.own ? at : null;
      this.changed();
    });
    return input;
  }

  #remove(file) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = '×';
    button.setAttribute('aria-label', say('remove', { name: file.name }));
    button.addEventListener('click', () => {
      this.all = this.all.filter((f) => f !== file);
      this.changed();
    });
    return button;
  }
}

function cell(content) {
  const td = document.createElement('td');
  td.append(content);
  return td;
}

// The files of a drop, those of its folders too.
async function dropped(transfer) {
  const entries = [...transfer.items].map((i) => i.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  return (await Promise.all(entries.map(inside))).flat();
}

async function inside(entry) {
  if (entry.isFile) return [await new Promise((done, failed) => { entry.file(done, failed); })];
  const reader = entry.createReader(), found = [];
  const read = () => new Promise((done, failed) => { reader.readEntries(done, failed); });
  for (let some = await read(); some.length; some = await read()) found.push(...some);
  return (await Promise.all(found.map(inside))).flat();
}
