// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The service worker: keeps what was fetched of this site for use without a network, and asks no
// other. VERSION and FILES are filled in by tools/web_site.py.
const VERSION = '@VERSION@', FILES = ['@FILES@'];

addEventListener('install', (e) => e.waitUntil((async () => {
  await (await caches.open(VERSION)).addAll(FILES);
  await self.skipWaiting();
})()));

addEventListener('activate', (e) => e.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (name.startsWith('maixmem-') && name !== VERSION) await caches.delete(name);
  }
  await self.clients.claim();
})()));

// From what was kept, else from the server, and then kept: Python comes so when it is first used.
async function answer(request) {
  const cache = await caches.open(VERSION);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept) return kept;
  const fresh = await fetch(request);
  if (fresh.ok && request.method === 'GET') await cache.put(request, fresh.clone());
  return fresh;
}

addEventListener('fetch', (e) => {
  if (new URL(e.request.url).origin === self.location.origin) e.respondWith(answer(e.request));
});
