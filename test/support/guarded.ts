/**
 * Tests that take long and guard little: a plain run of the tests leaves one out unless something
 * has changed in what it guards. `npm run verify -- --all` runs every one, and so does naming the
 * file.
 */
import { spawnSync } from 'node:child_process';

export interface Guarded {
  /** Below `test`. */
  readonly file: string;
  /** Parts of the project: folders, or modules without their ending. */
  readonly guards: readonly string[];
  /** Files that run each time and hold the same in a small form. */
  readonly beside: readonly string[];
}

const LEDGER = ['src/worker/ledger'];
const SYNC = ['src/worker/sync', 'src/shared/replication', 'server/sync'];
const TALK = ['src/shared/relay-client', 'server/team/events', 'server/agents/session'];

export const GUARDED: readonly Guarded[] = [
  {
    file: 'browser/engines.test.ts',
    guards: ['src/service-worker', 'src/shared/rpc', 'src/worker', 'vite.config'],
    beside: ['browser/story.test.ts'],
  },
  { file: 'browser/ledger-damage.test.ts', guards: LEDGER, beside: ['browser/ledger.test.ts'] },
  {
    file: 'browser/long-conversation.test.ts',
    guards: ['src/page/ui/chat', 'src/page/state'],
    beside: ['browser/story.test.ts'],
  },
  { file: 'faults/damage.test.ts', guards: [...LEDGER, ...SYNC], beside: ['browser/restored.test.ts'] },
  { file: 'faults/ledger-kill.test.ts', guards: LEDGER, beside: ['browser/ledger-tabs.test.ts'] },
  { file: 'faults/transactions.test.ts', guards: LEDGER, beside: ['browser/ledger-tabs.test.ts'] },
  {
    file: 'faults/memory-life.test.ts',
    guards: ['server/agents/runs', 'server/agents/session', 'src/worker/ledger', 'src/shared/domain'],
    beside: ['browser/remembering.test.ts'],
  },
  { file: 'faults/relay-kill.test.ts', guards: TALK, beside: ['relay/events-kill.test.ts'] },
  { file: 'faults/tab-kill.test.ts', guards: TALK, beside: ['browser/story.test.ts'] },
  { file: 'faults/replication.test.ts', guards: SYNC, beside: ['relay/sync-replication.test.ts'] },
];

/** Lines that git says; null where it cannot say. */
function git(...args: readonly string[]): readonly string[] | null {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : null;
}

/**
 * The commit that passed last: where this branch left the one that it goes to, or else the one
 * before.
 */
function lastPassed(): string | null {
  const [head] = git('rev-parse', 'HEAD') ?? [];
  const [base] = git('merge-base', '@{upstream}', 'HEAD') ?? git('merge-base', 'main', 'HEAD') ?? [];
  const [before] = git('rev-parse', '--verify', '--quiet', 'HEAD~1') ?? [];
  return (base === head ? before : (base ?? before)) ?? null;
}

/**
 * Files that differ from the commit that passed last, deleted and uncommitted ones too. Null where
 * git cannot say, as in a clone of one commit.
 */
export function changedSincePassed(): readonly string[] | null {
  const base = lastPassed();
  if (base === null) return null;
  const differing = git('diff', '--name-only', '--no-renames', base);
  const added = git('ls-files', '--others', '--exclude-standard');
  return differing && added && [...differing, ...added];
}

const isIn = (file: string, part: string) => file.startsWith(`${part}/`) || file.startsWith(`${part}.`);

/** Those that need not run after a change of these files. Null: nobody knows what changed. */
export function leftOut(changed: readonly string[] | null): readonly Guarded[] {
  return GUARDED.filter(
    ({ file, guards }) =>
      !(changed ?? []).some((each) => each === `test/${file}` || guards.some((part) => isIn(each, part))),
  );
}
