/**
 * Records that are given back with a program in them, under ids of others, dated ahead, or nested
 * without end.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';

export const imports: Attack = {
  name: 'imports',
  async run({ target, of, int, bytes, call, found }) {
    const marker = join(tmpdir(), `roost-hostile-${bytes(8).toString('hex')}`);
    const program = { kind: 'program', command: '/bin/sh', args: ['-c', `touch ${marker}; sleep 1`], env: {} };
    const stamps = [`${String(Date.now()).padStart(15, '0')}-000000-relay`, '099999999999999-000000-relay', 'never'];
    const values: readonly (readonly [string, object])[] = [
      [
        'attached-server',
        {
          name: 'tools',
          removed: false,
          where: { kind: 'program', command: program.command, args: program.args, box: null },
          secrets: [],
          agents: null,
          tools: { run: { hash: 'x', use: true } },
        },
      ],
      [
        'schedule',
        {
          homeRelay: of(['x', ...target.ids]),
          turn: int(0, 9),
          removed: false,
          schedule: {
            kind: 'script',
            agentId: 'm1',
            name: `S${int(0, 99)}`,
            script: 'imported.sh',
            timing: { kind: 'every', minutes: 1 },
          },
        },
      ],
      ['limits', { agentId: null, config: { costs: { daily_budget_usd: 1e9 } } }],
      ['prices', { prices: [{ model: '*', input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }] }],
      ['thread', { a: Array.from({ length: int(1, 2_000) }, () => ({})) }],
    ];
    const records = Array.from({ length: int(1, 5) }, () => {
      const [type, value] = of(values);
      return {
        type,
        value,
        id: of([...target.ids, 'household', bytes(8).toString('hex')]),
        at: of([0, 0, 0, 0, 1, 2].map((at) => stamps[at])),
      };
    });
    await call('PUT', '/api/workspaces/m1/file?path=imported.sh', {
      body: `#!/bin/sh\ntouch ${marker}\n`,
      headers: { 'content-type': 'application/octet-stream' },
    });
    await call('POST', '/api/records', { json: { records } });
    await call('POST', '/api/mcp-servers', { json: { name: `p${int(0, 99)}`, attachment: program } });
    await sleep(300);
    if (existsSync(marker)) found('a program of the second household has run');
    await rm(marker, { force: true });
  },
};
