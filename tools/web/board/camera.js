// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What the camera sees, as k210.wasm takes it: each picture's width and height in 16 bits, then its
// RGB bytes. The pattern is that of tools/maixmem_cli/emulator/pictures.py (a test compares them).

const WIDTH = 320, HEIGHT = 240;

// Pictures one after the other; each is {width, height, rgb}.
export function film(pictures) {
  const size = pictures.reduce((n, p) => n + 4 + p.rgb.length, 0), out = new Uint8Array(size);
  let at = 0;
  for (const { width, height, rgb } of pictures) {
    new Uint16Array(out.buffer, at, 2).set([width, height]);
    out.set(rgb, at + 4);
    at += 4 + rgb.length;
  }
  return out;
}

// A ramp in red and green; blue changes from picture to picture.
export function pattern() {
  const pictures = [];
  for (let blue = 0; blue < 256; blue += 16) {
    const rgb = new Uint8Array(3 * WIDTH * HEIGHT);
    for (let y = 0, i = 0; y < HEIGHT; y++) {
      for (let x = 0; x < WIDTH; x++) {
        rgb[i++] = Math.floor(x * 255 / WIDTH);
        rgb[i++] = Math.floor(y * 255 / HEIGHT);
        rgb[i++] = blue;
      }
    }
    pictures.push({ width: WIDTH, height: HEIGHT, rgb });
  }
  return film(pictures);
}

// A picture file of any kind that the browser knows, at most QVGA large. Throws what is no picture.
export async function picture(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, WIDTH / bitmap.width, HEIGHT / bitmap.height);
  const width = 2 * Math.max(1, Math.round(bitmap.width * scale / 2));
  const height = 2 * Math.max(1, Math.round(bitmap.height * scale / 2));
  const canvas = new OffscreenCanvas(width, height), to = canvas.getContext('2d');
  to.drawImage(bitmap, 0, 0, width, height);
  const rgba = to.getImageData(0, 0, width, height).data, rgb = new Uint8Array(3 * width * height);
  for (let i = 0, o = 0; i < rgba.length; i += 4) {
    rgb[o++] = rgba[i];
    rgb[o++] = rgba[i + 1];
    rgb[o++] = rgba[i + 2];
  }
  return { width, height, rgb };
}

// The same as a PPM file, for commands that take one.
export function ppm({ width, height, rgb }) {
  const head = new TextEncoder().encode(`P6 ${width} ${height} 255\n`);
  const out = new Uint8Array(head.length + rgb.length);
  out.set(head);
  out.set(rgb, head.length);
  return out;
}
