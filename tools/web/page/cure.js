// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Below an answer: looks for a change with which the script runs, as `maixmem sim` does, one after
// the other on a board of Python's own, and puts it into the editor when it is wanted.
import * as editor from './editor.js';
import { language, say } from './words.js';

const $ = (id) => document.getElementById(id);
const SCRIPT = 'main.py';

// Owns what is below the answer. `state`: none, tries, stopped, found, said. While it tries, the
// answer has no step: style.css.
export class Cure {
  constructor({ desk, files, tools }) {
    Object.assign(this, { desk, files, tools });
    $('cure-go').addEventListener('click', () => this.find());
    $('cure-stop').addEventListener('click', () => this.stop('stopped'));
    $('cure-take').addEventListener('click', () => this.#take());
  }

  #become(state, text = '') {
    $('answer').dataset.cure = state;
    $('cure-said').textContent = text;
    $('cure').hidden = state === 'none';
    $('cure-go').hidden = state !== 'stopped';
    $('cure-stop').hidden = state !== 'tries';
    $('cure-take').hidden = state !== 'found';
  }

  // Nobody wants to know any more: what is being tried is the last.
  stop(state = 'none') {
    this.search = null;
    this.#become(state);
  }

  // For the answer that is shown now, after what Python is doing.
  async find(before = null) {
    const { firmware, placed } = this.files, mine = this.search = Symbol('search');
    const script = editor.text();
    this.#become('tries', say('cureTries', { count: 0 }));
    try {
      await before;
      await this.files.send();
      const given = [firmware.name, SCRIPT, placed, await this.tools.camera(), language()];
      if (this.search !== mine) return;  // stopped: Python is left to what comes next
      await this.desk.put(SCRIPT, script);
      let { result } = await this.desk.call('try_changes', given);
      for (let count = 1; this.search === mine && !result.over; count++) {
        this.#become('tries', say('cureTries', { count }));
        ({ result } = await this.desk.call('next_change'));
      }
      if (this.search === mine) this.#found(result);
    } catch (e) {
      if (this.search === mine) this.#become('stopped', e.message);
    }
  }

  #found({ html, script }) {
    if (html) $('answer-text').innerHTML = html;
    this.script = script;
    this.#become(script ? 'found' : 'said', html ? '' : say('cureRuns'));
  }

  #take() {
    editor.setText(this.script);
    this.#become('said', say('cureTaken'));
  }
}
