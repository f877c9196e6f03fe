// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The desk's tabs: each button is a command of `maixmem`, what it prints is shown as it is.
import * as editor from './editor.js';
import { ppm, picture } from '../board/camera.js';
import { say } from './words.js';

const $ = (id) => document.getElementById(id);
const hex = (n) => `0x${n.toString(16)}`;

export class Tools {
  constructor(desk, files) {
    this.desk = desk;
    this.files = files;
    this.live = null; // where what is said while a command runs goes
    $('kmodel-go').addEventListener('click', () => this.#kmodel());
    $('flash-go').addEventListener('click', () => this.#flash());
    $('plan-go').addEventListener('click', () => this.#plan());
    $('plan-script').addEventListener('click', () => this.#planScript());
    $('explain-go').addEventListener('click', () => this.#explain());
    $('profile-go').addEventListener('click', () => this.#profile());
    $('profile-stop').addEventListener('click', () => this.desk.stop(say('cancelled')));
  }

  say(text) { if (this.live) this.live.textContent += text; }

  // Runs a command and shows its words in an element; `report`: the file of its picture.
  async run(words, shown, { report = '', frame = null } = {}) {
    const to = $(shown);
    to.textContent = `$ maixmem ${words.join(' ')}\n`;
    to.dataset.state = 'running';
    this.live = to;
    if (frame) frame.hidden = true;
    try {
      await this.files.send();
      const { result } = await this.desk.call('command', [words, report]);
      to.textContent += result.out;
      to.dataset.status = result.status;
      if (frame && result.file) {
        frame.srcdoc = result.file.replace(/<script>[^]*<\/script>/, ''); // nothing runs there
        frame.hidden = false;
      }
      return result;
    } catch (e) {
      to.textContent += e.message;
      return null;
    } finally {
      this.live = null;
      to.dataset.state = 'done';
    }
  }

  #items() {
    const items = this.files.placed.map(([at, name]) => (at ? `${name}@${hex(at)}` : name));
    return this.files.firmware ? [this.files.firmware.name, ...items] : items;
  }

  #kmodel() {
    const names = [...this.files.of('model'), ...this.files.of('package')].map((f) => f.name);
    if (!names.length) { $('models-said').textContent = say('needsModels'); return null; }
    return this.run(['kmodel', ...names], 'models-said');
  }

  #flash() {
    const items = this.#items();
    if (!items.length) { $('models-said').textContent = say('needsModels'); return null; }
    return this.run(['flash', ...items], 'models-said');
  }

  async #plan() {
    if (!$('project').value.trim() || $('project').value === this.made) await this.#begin();
    await this.desk.put('project.toml', $('project').value);
    const more = { report: 'fit.html', frame: $('plan-report') };
    await this.run(['fit', 'project.toml', '--html', 'fit.html'], 'plan-said', more);
  }

  // A project of the files that were dropped, else the one that the command itself begins with.
  async #begin() {
    const { firmware, placed } = this.files;
    const { result } = await this.desk.call('project', [firmware?.name ?? '', placed]);
    const words = ['init', '--bare'];
    this.made = result.text
      || (await this.desk.call('command', [words, 'project.toml'])).result.file;
    $('project').value = this.made;
  }

  // A script is run, on the firmware that was dropped; the project is that of its run.
  async #planScript() {
    if (!this.files.firmware) { $('plan-said').textContent = say('needsFirmware'); return; }
    await this.desk.put('main.py', editor.text());
    const words = ['fit', 'main.py', ...await this.#board(), '-o', 'project.toml'];
    const result = await this.run(words, 'plan-said', { report: 'project.toml' });
    if (result && [0, 1, 3].includes(result.status)) $('project').value = result.file;
  }

  // What a script runs on.
  async #board() {
    const words = ['--firmware', this.files.firmware.name];
    for (const [at, name] of this.files.placed) words.push('--flash', `${name}@${hex(at)}`);
    return [...words, '--camera', await this.camera(), '--frames', $('frames').value || '20'];
  }

  async #explain() {
    await this.desk.put('log.txt', $('text').value);
    await this.run(['explain', 'log.txt'], 'explain-said');
  }

  async #profile() {
    const { firmware } = this.files;
    if (!firmware) { $('profile-said').textContent = say('needsFirmware'); return; }
    await this.desk.put('main.py', editor.text());
    const words = ['profile', 'main.py', ...await this.#board(), '--html', 'profile.html'];
    $('profile-go').disabled = true;
    $('profile-stop').hidden = false;
    await this.run(words, 'profile-said', { report: 'profile.html', frame: $('profile-report') });
    $('profile-go').disabled = false;
    $('profile-stop').hidden = true;
  }

  // What the camera sees, as an option of a command.
  async camera() {
    const [first] = this.files.of('picture');
    if (!first) return 'pattern';
    await this.desk.put('camera.ppm', ppm(await picture(new Blob([first.data]))));
    return 'camera.ppm';
  }
}
