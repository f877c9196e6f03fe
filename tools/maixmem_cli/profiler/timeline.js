// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The report's timeline under a pointer: who has what at a moment, zoom and move. `told` is what
// report.py knows: places from 0 to 1, words for each, and for each heap its lines' bytes.
for (const svg of document.querySelectorAll('.timeline > svg')) {
  const shown = document.querySelector('#moment');
  const windows = [...svg.querySelectorAll('svg.window')];
  const labels = [...svg.querySelectorAll('[data-at]')];
  const left = +windows[0].getAttribute('x'), wide = +windows[0].getAttribute('width');
  const LEAST = 0.002, MOST_LINES = 6;
  let from = 0, part = 1, held = null;
  const fingers = new Map();

  // A place on the picture, 0 to 1, of a pointer.
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    return (x - left) / wide;
  };
  const kib = (n) => n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB`
    : `${(n / (1 << 20)).toFixed(1)} MiB`;

  function look(first, much) {
    part = Math.min(1, Math.max(LEAST, much));
    from = Math.min(1 - part, Math.max(0, first));
    for (const w of windows) {
      const high = w.getAttribute('height');
      w.setAttribute('viewBox', `${from * wide} 0 ${part * wide} ${high}`);
    }
    for (const label of labels) {
      label.home ??= +label.getAttribute('x') - left - label.dataset.at * wide;
      const at = (label.dataset.at - from) / part;
      label.setAttribute('x', left + at * wide + label.home);
      label.style.display = at < -0.001 || at > 1.001 ? 'none' : '';
    }
  }

  function tell(at) {
    let i = told.at.findIndex((x) => x >= at);
    if (i < 0) i = told.at.length - 1;
    const lines = told.plots.map((plot) => {
      const each = plot.lines.map((n) => [n.values[i], n.name]).filter(([n]) => n);
      each.sort((a, b) => b[0] - a[0]);
      const most = each.slice(0, MOST_LINES).map(([n, name]) => `${name} ${kib(n)}`);
      return `${plot.name} ${kib(plot.most[i])}: ${most.join(', ')}`;
    });
    shown.replaceChildren(...[told.words[i], ...lines].map((words) => {
      const line = document.createElement('div');
      line.textContent = words;
      return line;
    }));
  }

  svg.addEventListener('wheel', (event) => {
    event.preventDefault();
    const at = place(event), by = event.deltaY > 0 ? 1.25 : 0.8;
    const much = Math.min(1, Math.max(LEAST, part * by));
    look(from + at * (part - much), much);
  }, { passive: false });
  svg.addEventListener('pointerdown', (event) => {
    fingers.set(event.pointerId, place(event));
    held = { from, part, at: [...fingers.values()] };
  });
  svg.addEventListener('pointermove', (event) => {
    const at = place(event);
    if (at >= 0 && at <= 1) tell(from + at * part);
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, at);
    const now = [...fingers.values()];
    if (now.length === 1) look(held.from - (now[0] - held.at[0]) * held.part, held.part);
    if (now.length !== 2) return;
    const much = held.part * Math.abs(held.at[1] - held.at[0]) / (Math.abs(now[1] - now[0]) || 1);
    look(held.from + held.at[0] * held.part - now[0] * much, much);
  });
  for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
    svg.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      held = { from, part, at: [...fingers.values()] };
    });
  svg.addEventListener('dblclick', () => look(0, 1));
}
