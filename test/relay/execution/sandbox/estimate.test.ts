import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { estimateOf } from '../../../../server/execution/sandbox/held.ts';

const FILES = 100_000;
const isHere = spawnSync('bwrap', ['--dev-bind', '/', '/', '--tmpfs', '/tmp', 'true']).status === 0;

it.skipIf(!isHere)('the quick look at a sandbox counts empty files in memory, which no process shows', async () => {
  const program = `
import os
for n in range(${FILES}): os.close(os.open(f'/tmp/{n}', os.O_CREAT | os.O_WRONLY))
print('has them', flush=True)
input()`;
  const args = ['--dev-bind', '/', '/', '--tmpfs', '/tmp', '--die-with-parent', 'python3', '-c', program];
  const box = spawn('bwrap', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(box.stdout, 'data');
    expect(await estimateOf({ root: box.pid ?? 0, list: null })).toBeGreaterThan(FILES * 1_000);
  } finally {
    box.kill('SIGKILL');
  }
});
