// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What the page opens with: a run of the example that was recorded when the page was built
// (recorded/example.json), played: its lines, both heaps, what it printed, its answer.
import { language, say } from './words.js';

const $ = (id) => document.getElementById(id);
const STEP = 250; // ms
const still = matchMedia('(prefers-reduced-motion: reduce)');
let told = null, run = null, seen = [], turn = 0, end = false;

const mib = (n) => (n / (1 << 20)).toFixed(2);

function listing(step) {
  const lines = run.script.trimEnd().split('\n').map((text, i) => {
    const here = step?.line === i + 1, line = document.createElement(here ? 'mark' : 'span');
    if (here && step.kind === 'refused') line.className = 'bad';
    line.textContent = `${String(i + 1).padStart(3)}  ${text}\n`;
    return line;
  });
  $('recorded-script').replaceChildren(...lines);
}

function curve(to, { width, height }, key, colour) {
  const points = seen.filter((s) => s[key]), wide = width / Math.max(1, run.steps.length);
  if (!points.length) return;
  to.fillStyle = getComputedStyle(document.body).getPropertyValue(`--${colour}`);
  points.forEach(({ [key]: [used, total] }, i) => {
    const high = used / total * (height / 2 - 14);
    to.fillRect(i * wide, (key === 'heap' ? height / 2 : height) - high, wide - 2, high);
  });
}

function draw() {
  const canvas = $('recorded-heaps'), to = canvas.getContext('2d');
  const style = getComputedStyle(document.body);
  to.clearRect(0, 0, canvas.width, canvas.height);
  to.fillStyle = style.getPropertyValue('--ink');
  to.font = '13px system-ui, sans-serif';
  to.fillText(say('systemHeap'), 4, 12);
  to.fillText(say('gcHeap'), 4, canvas.height / 2 + 12);
  curve(to, canvas, 'heap', 'used');
  curve(to, canvas, 'gc', 'hole');
  const last = seen.filter((s) => s.heap).pop(), refused = seen.find((s) => s.kind === 'refused');
  const text = last ? say('recordedHeaps', {
    heap: mib(last.heap[0]), ofHeap: mib(last.heap[1]), gc: mib(last.gc[0]), ofGc: mib(last.gc[1]),
  }) : '';
  const asked = refused ? say('recordedAsked', { asked: mib(refused.asked) }) : '';
  $('recorded-text').textContent = `${text} ${asked}`;
  canvas.setAttribute('aria-label', `${text} ${asked}`);
}

function show() {
  listing(seen.at(-1));
  draw();
  const lines = run.console.trimEnd().split('\n');
  const many = end ? lines.length : Math.floor(lines.length * seen.length / (run.steps.length + 1));
  $('recorded-console').textContent = lines.slice(0, many).join('\n');
  const hangs = run === told.hangs;
  $('recorded-answer').hidden = !(hangs && end);
  $('recorded-change').hidden = $('recorded-try').hidden = !(hangs && end);
  $('recorded-answer').innerHTML = told.answer[language()] ?? told.answer.en;
  $('recorded').dataset.state = `${hangs ? 'hangs' : 'runs'} ${end ? 'ended' : 'plays'}`;
  if (end && hangs) $('recorded-text').textContent += ` ${say('hangsNow')}`;
  if (end && !hangs) $('recorded-text').textContent += ` ${say('recordedRuns')}`;
}

async function play(what) {
  const mine = ++turn;
  run = what;
  seen = [];
  end = false;
  for (const step of run.steps) {
    seen = [...seen, step];
    if (!still.matches) {
      show();
      await new Promise((done) => { setTimeout(done, STEP); });
      if (mine !== turn) return;
    }
  }
  end = true;
  show();
}

function fold(folded) {
  $('recorded-answer').classList.toggle('folded', folded);
  $('recorded-change').setAttribute('aria-expanded', !folded);
}

// Plays it; in the first view only, until there is a firmware.
export async function start(data) {
  told = data;
  $('recorded').hidden = false;
  fold(true);
  $('recorded-change').addEventListener('click',
    () => fold(!$('recorded-answer').classList.contains('folded')));
  $('recorded-try').addEventListener('click', () => play(told.runs));
  $('recorded-again').addEventListener('click', () => play(told.hangs));
  document.addEventListener('words', show);
  await play(told.hangs);
}

// There is a board of the user's own.
export function close() {
  turn++;
  $('recorded').hidden = true;
}
