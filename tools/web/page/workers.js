// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A worker from a file of this site has the policy that its server sends with it, and many servers
// send none. One from a blob has the page's own: so each of ours is a blob that imports its file.

// path: from this folder.
export function worker(path) {
  const text = `import '${new URL(path, import.meta.url).href}';`;
  const blob = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  return new Worker(blob, { type: 'module' });
}
