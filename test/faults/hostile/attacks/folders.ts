/** Folders that are filled: many files, large ones, names that lead out, and a zip of it all. */
import type { Attack } from '../attack.ts';

const NAMES = [
  'a.txt',
  '../../etc/passwd',
  'x/'.repeat(200),
  '..%2f..%2fsealing.key',
  '\u202egnp.exe',
  'con',
  '.git/hooks/pre-commit',
  '.claude/settings.json',
  'a\u0000b',
  `${'n'.repeat(300)}`,
];

export const folders: Attack = {
  name: 'folders',
  async run({ of, int, call }) {
    const at = (path: string) => `/api/workspaces/m1/file?path=${encodeURIComponent(path)}`;
    for (let left = int(5, 20); left > 0; left--)
      await call('PUT', at(of([of(NAMES), `f${int(0, 500)}/g${int(0, 500)}.txt`])), {
        body: Buffer.alloc(of([0, 10, int(0, 200_000)]), int(0, 255)),
        headers: { 'content-type': 'application/octet-stream' },
      });
    await call('GET', '/api/workspaces/m1?path=');
    await call('GET', at(of(NAMES)));
    if (int(0, 9) === 0) await call('GET', '/api/workspaces/m1/zip?path=');
    if (int(0, 4) === 0) await call('DELETE', at('f1'));
  },
};
