/** Begins a command in the sandbox, and is killed some ms later: `FOLDER SECONDS MS`. */
import { createSandbox } from '../../server/execution/sandbox/index.ts';

const [folder = '', seconds = '', ms = ''] = process.argv.slice(2);
const sandbox = createSandbox();
await sandbox.status();
void sandbox.run({ folder, bash: ['-c', `exec sleep ${seconds}`], timeoutMs: 600_000 });
setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(ms));
