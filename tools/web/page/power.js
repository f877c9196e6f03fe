// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Makes what a board is switched on with: flash, card and what the camera sees.
import { film, picture } from '../board/camera.js';

const HEAD = 5, HASH = 32, FLASH_SIZE = 16 << 20;

// A firmware as the boot ROM wants it at 0, as flash/image.py makes it: a byte 0 and its length,
// its bytes, their SHA-256. One that is so already stays as it is.
export async function bootImage(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data[0] === 0 && view.getUint32(1, true) + HEAD + HASH === data.length) return data;
  const whole = new Uint8Array(HEAD + data.length + HASH);
  new DataView(whole.buffer).setUint32(1, data.length, true);
  whole.set(data, HEAD);
  const hash = await crypto.subtle.digest('SHA-256', whole.subarray(0, HEAD + data.length));
  whole.set(new Uint8Array(hash), HEAD + data.length);
  return whole;
}

// {flash, card, film} of the user's files. A plain firmware needs no Python; anything else is put
// together there. Throws an Error with the words for the user.
export async function parts(files, desk, library) {
  const { firmware } = files, modules = files.of('module').map((f) => f.name);
  const card = files.of('card').map((f) => f.name);
  const pictures = await Promise.all(files.of('picture').map((f) => picture(new Blob([f.data]))));
  const seen = pictures.length ? film(pictures) : null;
  const plain = !files.placed.length && !modules.length && !card.length && !library;
  if (plain && !/\.kfpkg$/i.test(firmware.name) && firmware.data.length < FLASH_SIZE - HEAD - HASH) {
    return { flash: await bootImage(firmware.data), card: null, film: seen };
  }
  await files.send();
  const { result, bytes } = await desk.call('chip',
    [firmware.name, files.placed, modules, library, card]);
  if (result.error) throw new Error(result.error);
  const rest = bytes.length > result.flash ? bytes.slice(result.flash) : null;
  return { flash: bytes.subarray(0, result.flash), card: rest, film: seen };
}
