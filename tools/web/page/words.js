// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The page's texts in the reader's language: texts/*.json, put where elements ask for them with
// data-text, data-label (for screen readers) and data-name (title).

let words = {};
const LANGUAGES = ['en', 'zh'];

// What the reader chose before, else what the browser prefers.
export function language() {
  const kept = localStorage.getItem('maixmem.language');
  const wanted = kept ?? navigator.language.slice(0, 2);
  return LANGUAGES.includes(wanted) ? wanted : 'en';
}

// Loads a language and shows it.
export async function speak(name) {
  const file = new URL(`../texts/${name}.json`, import.meta.url);
  words = await (await fetch(file)).json();
  document.documentElement.lang = name === 'zh' ? 'zh-CN' : name;
  for (const e of document.querySelectorAll('[data-text]')) e.textContent = say(e.dataset.text);
  for (const e of document.querySelectorAll('[data-label]')) {
    e.setAttribute('aria-label', say(e.dataset.label));
  }
  for (const e of document.querySelectorAll('[data-name]')) e.title = say(e.dataset.name);
  document.dispatchEvent(new Event('words'));
}

// A text, {name} filled in.
export function say(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}
