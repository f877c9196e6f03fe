// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Starts the page: texts, tabs, files, the board, the commands of the desk.
import * as recorded from './recorded.js';
import * as editor from './editor.js';
import * as tabs from './tabs.js';
import { BoardTab } from './board.js';
import { Cure } from './cure.js';
import { Desk } from './desk.js';
import { Files } from './files.js';
import { HeapTab } from './heap.js';
import { Tools } from './tools.js';
import { language, say, speak } from './words.js';

const $ = (id) => document.getElementById(id);
const fetched = async (path) => (await fetch(new URL(`../${path}`, import.meta.url))).text();

function progress(part) {
  $('python').hidden = part >= 1;
  $('python-part').value = part;
}

async function scripts() {
  const found = JSON.parse(await fetched('scripts.json'));
  const fill = () => {
    const chosen = $('scripts').value;
    $('scripts').replaceChildren(new Option(say('chooseScript'), ''),
      ...found.map(({ file, key }) => new Option(say(key), file)));
    $('scripts').value = chosen;
  };
  document.addEventListener('words', fill);
  fill();
  $('scripts').addEventListener('change', async () => {
    if ($('scripts').value) editor.setText(await fetched(`scripts/${$('scripts').value}`));
  });
  return fetched(`scripts/${found[0].file}`);
}

function buttons(board, files, desk) {
  $('run').addEventListener('click', () => board.runScript());
  $('stop').addEventListener('click', () => board.stop());
  $('ctrl-c').addEventListener('click', () => board.type(new Uint8Array([3])));
  $('reset').addEventListener('click', () => board.powerOn({ anew: true }));
  $('why').addEventListener('click', () => board.why());
  $('camera').addEventListener('change', () => {
    if ($('camera').value === 'file') $('picture').click();
    else { files.all = files.all.filter((f) => f.role !== 'picture'); files.changed(); }
  });
  $('picture').addEventListener('change', () => files.take([...$('picture').files]));
  $('link').addEventListener('click', async () => {
    const link = await editor.link();
    history.replaceState(null, '', link);
    await navigator.clipboard?.writeText(link).catch(() => {});
    board.tell(say('linkCopied'));
  });
  $('example').addEventListener('click', async () => {
    await files.send();
    const { bytes } = await desk.call('example_models', [files.firmware?.name ?? '']);
    await files.add('classes.kmodel', bytes, 'model', 0x300000); // as the scripts have it
    await files.add('faces.kmodel', bytes.slice(), 'model', 0x600000);
    await files.changed();
  });
  addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); board.runScript(); }
  });
}

function changed(board, files) {
  $('camera').value = files.of('picture').length ? 'file' : 'pattern';
  board.filesChanged();
  if (files.firmware) recorded.close();
}

async function offline() {
  if (!('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register(new URL('../offline.js', import.meta.url));
    await navigator.serviceWorker.ready;
    const tell = () => { $('offline').textContent = say('offlineReady'); };
    document.addEventListener('words', tell);
    tell();
  } catch { /* a private window: the page works, but not offline */ }
}

async function start() {
  await speak(language());
  $('language').value = language();
  $('language').addEventListener('change', () => {
    localStorage.setItem('maixmem.language', $('language').value);
    speak($('language').value);
  });
  tabs.start();
  const tools = { say: () => {}, changed: () => {} };
  const desk = new Desk({ progress, say: (text) => tools.say(text) });
  const files = new Files(desk, {
    code: () => editor.text(),
    change: () => { changed(board, files); tools.changed(); },
    module: () => {},
    script: (text) => editor.setText(text),
    project: (text) => { $('project').value = text; tabs.show($('tab-plan')); },
    text: (text) => { $('text').value = text; tabs.show($('tab-explain')); },
  });
  const board = new BoardTab(files, desk);
  const shown = new Tools(desk, files);
  board.cure = new Cure({ desk, files, tools: shown });
  tools.say = (text) => shown.say(text);
  const heap = new HeapTab({ desk, tools: shown, board, files });
  tools.changed = () => heap.show();
  buttons(board, files, desk);
  await editor.start(await scripts());
  document.body.dataset.ready = 'yes';
  if (!files.firmware) recorded.start(JSON.parse(await fetched('recorded/example.json')));
  await offline();
}

start();
