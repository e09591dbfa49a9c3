import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const server = fileURLToPath(new URL('../../support/postgres-process.ts', import.meta.url));

it.each([0, 1])('a run that tells %i ends with it, where a Postgres server was at hand', (status) => {
  const script = `import(${JSON.stringify(server)}).then(() => { process.exitCode = ${status}; })`;
  expect(spawnSync(process.execPath, ['--import', 'tsx', '-e', script]).status).toBe(status);
});
