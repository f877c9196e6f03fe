// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Below an answer: finds a change with which the script runs, as `maixmem cure` does, and puts it
// into the editor when it is wanted.
import * as editor from './editor.js';
import { language, say } from './words.js';

const $ = (id) => document.getElementById(id);
const SCRIPT = 'main.py';

// Owns what is below the answer. `state`: none, offered, tries, found, said.
export class Cure {
  constructor({ desk, files, tools }) {
    Object.assign(this, { desk, files, tools });
    $('cure-go').addEventListener('click', () => this.#find());
    $('cure-stop').addEventListener('click', () => this.desk.stop(say('cancelled')));
    $('cure-take').addEventListener('click', () => this.#take());
  }

  // Whether one may be found for the answer that is shown now.
  offer(may) {
    this.found = null;
    this.#become(may ? 'offered' : 'none');
  }

  #become(state, text = '') {
    $('cure').dataset.state = state;
    $('cure-said').textContent = text;
    $('cure').hidden = state === 'none';
    $('cure-go').hidden = state !== 'offered';
    $('cure-stop').hidden = state !== 'tries';
    $('cure-take').hidden = state !== 'found';
  }

  async #find() {
    const { firmware, placed } = this.files;
    this.#become('tries', say('cureTries'));
    try {
      await this.files.send();
      await this.desk.put(SCRIPT, editor.text());
      const asked = [firmware.name, SCRIPT, placed, await this.tools.camera(), language()];
      const { html, script } = (await this.desk.call('change', asked)).result;
      if (html) $('answer-text').innerHTML = html;
      this.found = script;
      this.#become(script ? 'found' : 'said', html ? '' : say('cureRuns'));
    } catch (e) {
      this.#become('offered', e.message);
    }
  }

  #take() {
    editor.setText(this.found);
    this.#become('said', say('cureTaken'));
  }
}
