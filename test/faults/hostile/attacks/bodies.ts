/**
 * Bodies that take longer to read than to send: nested, repeated, packed, cut, or of another kind
 * than they say.
 */
import { gzipSync } from 'node:zlib';
import type { Attack } from '../attack.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const PATHS = [
  ['POST', '/api/messages'],
  ['POST', '/api/sessions'],
  ['PUT', '/v1/config'],
  ['PUT', '/v1/agents/m1/config'],
  ['POST', '/v1/pulse-routines'],
  ['POST', '/api/records'],
  ['PUT', '/api/agent-snapshots/m1'],
] as const;

export const bodies: Attack = {
  name: 'bodies',
  async run({ of, int, call }) {
    for (let left = int(2, 6); left > 0; left--) {
      const [method, path] = of(PATHS);
      const [type, body] = of<() => readonly [string, string | Uint8Array]>([
        () => ['application/json', nested(int(100, 200_000))],
        () => ['application/json', `{"a":${nested(int(100, 50_000))}}`],
        () => ['application/json', JSON.stringify({ text: 'x'.repeat(int(1, 2_000_000)), clientId: 'c' })],
        () => ['application/json', `[${'{"a":1},'.repeat(int(1, 100_000))}{}]`],
        () => ['application/json', `{"text":"${'\\u0000'.repeat(int(1, 100_000))}`],
        () => ['application/yaml', `a: &a [${'x,'.repeat(9)}x]\nb: [${'*a,'.repeat(int(1, 200))}*a]`],
        () => [
          'application/yaml',
          `${Array.from({ length: int(1, 2_000) }, (_, i) => `${' '.repeat(i)}a:`).join('\n')}`,
        ],
        () => ['application/json', gzipSync(Buffer.alloc(int(1, 20_000_000), 32))],
        () => ['multipart/form-data; boundary=x', '--x\r\n'.repeat(1_000)],
      ])();
      await call(method, path, { body, headers: { 'content-type': type } });
    }
  },
};
