// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What the board sends to its display.

const canvas = document.getElementById('display');
let shown = 0;

export function draw({ width, height, rgba }) {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const pixels = new Uint8ClampedArray(rgba.buffer);
  canvas.getContext('2d').putImageData(new ImageData(pixels, width, height), 0, 0);
  canvas.dataset.pictures = ++shown;
}

export function clear() {
  canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
}
