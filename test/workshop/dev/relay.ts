/** The relay from its sources: started, and started anew when they change. */
import { spawn, type ChildProcess } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createBurst } from '../../../src/shared/domain/platform/burst.ts';
import { runAgain } from '../../../src/shared/domain/platform/single-flight.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';

/** What the relay is made of. */
const SOURCES = ['server', 'src/shared/domain', 'src/shared/protocol', 'CLAUDE.md', 'package.json'];
/** ms: an editor writes several files for one change. */
const QUIET_MS = 150;
const MOST_MS = 1_000;

export interface DevRelayDeps {
  readonly root: string;
  /** As `npm start` takes them. */
  readonly args: readonly string[];
  /** A line that it wrote. */
  readonly say: (line: string) => void;
}

export interface DevRelay {
  /** Ends it in good order: the session is closed, everything is on disk. */
  close(): Promise<void>;
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));

export function startDevRelay({ root, args, say }: DevRelayDeps): DevRelay {
  let child: ChildProcess | null = null;
  let closed = false;

  async function stop(): Promise<void> {
    const running = child;
    child = null;
    if (!running) return;
    running.kill('SIGTERM');
    await ended(running);
  }

  function start(): void {
    const begun = spawn(process.execPath, ['--import', 'tsx', join(root, 'server/main.ts'), ...args], {
      cwd: root,
      // It hears Enter itself; what it says is passed on, because its links lead to the page of
      // before.
      stdio: ['inherit', 'pipe', 'pipe'],
    });
    for (const stream of [begun.stdout, begun.stderr]) createInterface({ input: stream }).on('line', say);
    begun.once('exit', (code) => {
      if (child !== begun || closed) return;
      child = null;
      say(`The relay ended (${code ?? 'by a signal'}). It starts again when a file changes.`);
    });
    child = begun;
  }

  const restart = runAgain(async () => {
    await stop();
    if (!closed) start();
  });
  const burst = createBurst({
    after: realTimers.after,
    quietMs: QUIET_MS,
    mostMs: MOST_MS,
    run: () => {
      say('The relay’s code has changed: it starts again.');
      void restart();
    },
  });
  const watchers = SOURCES.map((source) => watch(join(root, source), { recursive: true }, () => burst.add()));
  start();

  return {
    async close() {
      closed = true;
      burst.clear();
      for (const watcher of watchers) watcher.close();
      await stop();
    },
  };
}
