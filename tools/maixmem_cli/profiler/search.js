// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The report's search: what does not have the words is pale in the pictures, and left out of the
// tables.
{
  const field = document.querySelector('#search');
  const shapes = [...document.querySelectorAll('svg title')].map((title) => title.parentNode);
  const rows = [...document.querySelectorAll('table tr')].filter((row) => row.querySelector('td'));
  field.addEventListener('input', () => {
    const words = field.value.trim().toLowerCase();
    for (const part of [...shapes, ...rows])
      part.classList.toggle('off', !part.textContent.toLowerCase().includes(words));
  });
}
