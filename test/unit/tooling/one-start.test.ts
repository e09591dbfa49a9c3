/**
 * The relay starts programs in one place, which keeps open descriptors from them: lint finds a
 * second one.
 */
import { expect, it } from 'vitest';
import { findingsIn } from '../../support/lint.ts';

const CASES = {
  'server/store/a.ts': "import { spawn } from 'node:child_process';\nspawn('true');",
  'server/b.ts': "export { execFile } from 'child_process';",
  'server/platform/processes/c.ts': "import * as all from 'node:child_process';\nall.fork('x');",
};
const ALLOWED = {
  'server/store/type.ts': "import type { ChildProcess } from 'node:child_process';\nexport type Child = ChildProcess;",
  'server/platform/processes/index.ts': "import { spawn } from 'node:child_process';\nspawn('true');",
};

it('Lint lets one file of the relay start programs', async () => {
  const found = await findingsIn(new Map([...Object.entries(CASES), ...Object.entries(ALLOWED)]));
  for (const path of Object.keys(CASES)) expect(found(path).map(({ rule }) => rule)).toEqual(['no-restricted-imports']);
  for (const path of Object.keys(ALLOWED)) expect(found(path)).toEqual([]);
});
