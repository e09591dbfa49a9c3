/**
 * Tests that take long and guard few folders: a plain run leaves one out unless something has
 * changed in those. `npm run verify -- --all` runs every one, and so does naming the file.
 */
import { spawnSync } from 'node:child_process';

/** In the environment of a run: the files below `test` that it leaves out, with spaces between. */
export const LEFT_OUT = 'ROOST_TESTS_LEFT_OUT';

/** For the configuration of a run: what it excludes. */
export const excluded = (): readonly string[] =>
  (process.env[LEFT_OUT] ?? '').split(' ').flatMap((file) => (file === '' ? [] : `test/${file}`));

export interface Guarded {
  /** Below `test`. */
  readonly file: string;
  /** Parts of the project: folders, or modules without their ending. */
  readonly guards: readonly string[];
  /** Files that run each time and hold the main point of it. */
  readonly beside: readonly string[];
}

const LEDGER = ['src/worker/ledger'];
const SYNC = ['src/worker/sync', 'src/shared/replication', 'server/sync'];
const TALK = ['src/shared/relay-client', 'server/team/events', 'server/agents/session'];
const PAGE = ['src/page/ui', 'src/page/state'];
const START = ['server/startup', 'server/relay', 'server/main', 'server/platform'];

/** All that a relay is made of. A test that has no page beside it can find nothing else. */
const RELAY = ['server', 'src/shared', 'test/support', 'CLAUDE'];
/** What agents work on tasks by: checkouts, git, commands and the person's answers. */
const TASK_WORK = [
  ...['server/tools', 'server/team/projects', 'server/platform', 'src/shared/domain', 'src/shared/protocol'],
  ...['test/support/night-relay', 'test/support/person-repository'],
];
/** All that the data worker keeps its rows by. */
const ROWS = [...LEDGER, 'src/worker/worker', 'src/shared', 'test/support'];

/** What any of them may depend on. */
const EVERYTHING = ['package-lock'];

export const GUARDED: readonly Guarded[] = [
  {
    file: 'browser/engines.test.ts',
    guards: ['src/service-worker', 'src/shared/rpc', 'src/worker', 'vite.config'],
    beside: ['browser/story.test.ts'],
  },
  {
    file: 'browser/devices.test.ts',
    guards: [...SYNC, 'src/worker', 'src/shared/protocol', 'src/page/ui/devices', 'server/access'],
    beside: ['browser/direct.test.ts', 'faults/one-wake.test.ts', 'relay/sync/sync-members.test.ts'],
  },
  {
    file: 'browser/copies.test.ts',
    guards: ['src/page/archive', 'src/page/ui/copies', 'src/worker', 'src/shared/protocol'],
    beside: ['browser/archive.test.ts'],
  },
  {
    file: 'browser/bench.test.ts',
    guards: ['test/bench', 'src/worker', 'src/shared', ...PAGE],
    beside: ['relay/bench.test.ts'],
  },
  {
    file: 'browser/package.test.ts',
    guards: [...START, 'server/roost', 'server/store', 'vite.config', 'package'],
    beside: ['browser/story.test.ts', 'relay/startup/start.test.ts'],
  },
  { file: 'browser/ledger-damage.test.ts', guards: LEDGER, beside: ['browser/ledger.test.ts'] },
  {
    file: 'browser/typing.test.ts',
    guards: [...PAGE, 'src/page/language', 'src/page/main', 'vite.config'],
    beside: ['browser/talking.test.ts', 'browser/phone.test.ts'],
  },
  {
    file: 'browser/layout.test.ts',
    guards: [...PAGE, 'src/page/language', 'src/page/main', 'vite.config'],
    beside: ['browser/phone.test.ts', 'browser/story.test.ts'],
  },
  {
    file: 'browser/reach.test.ts',
    guards: [...PAGE, 'src/worker', 'src/shared', 'server/team', 'server/agents', 'server/tools/mcp-server'],
    beside: ['browser/talking.test.ts', 'relay/agents/reach/reach.test.ts'],
  },
  {
    file: 'browser/early-press.test.ts',
    guards: [...PAGE, 'src/worker', 'src/shared/rpc', 'src/shared/domain'],
    beside: ['browser/story.test.ts'],
  },
  {
    file: 'browser/projects.test.ts',
    guards: [...PAGE, 'src/worker', 'src/shared', 'server/team/projects', 'server/tools/task-work'],
    beside: ['browser/first-merge.test.ts', 'relay/tools/task-work/task-work.test.ts'],
  },
  {
    file: 'browser/connect.test.ts',
    guards: [...PAGE, 'src/shared', 'server/agents'],
    beside: ['relay/agents/models/models.test.ts', 'browser/story.test.ts'],
  },
  {
    file: 'browser/language.test.ts',
    guards: ['src/page', 'src/shared/domain/names', 'vite.config'],
    beside: ['unit/page/language/texts.test.ts'],
  },
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
    guards: [
      ...['server/agents/runs', 'server/agents/session', 'src/worker/ledger', 'src/shared/domain', ...SYNC],
      ...['src/shared/relay-client', 'src/page/state/actions'],
    ],
    beside: ['browser/remembering.test.ts', 'browser/slow-line.test.ts'],
  },
  { file: 'faults/relay-kill.test.ts', guards: TALK, beside: ['relay/team/events/events-kill.test.ts'] },
  { file: 'faults/tab-kill.test.ts', guards: TALK, beside: ['browser/story.test.ts'] },
  { file: 'faults/line-cut.test.ts', guards: TALK, beside: ['relay/team/events/events-stream.test.ts'] },
  { file: 'faults/replication.test.ts', guards: SYNC, beside: ['relay/sync/sync-entries.test.ts'] },
  {
    file: 'relay/sync/sync-replication.test.ts',
    guards: [...SYNC, 'server/store'],
    beside: ['relay/sync/sync-entries.test.ts'],
  },
  {
    file: 'relay/tools/checkouts/huge-repositories.test.ts',
    guards: ['server/tools/checkouts', 'server/tools/task-work', 'server/platform'],
    beside: ['attacks/many-diffs.test.ts', 'relay/tools/task-work/task-work.test.ts'],
  },
  {
    file: 'relay/tools/checkouts/damage.test.ts',
    guards: ['server/tools/checkouts', 'server/tools/task-work', 'server/platform'],
    beside: ['relay/tools/checkouts/checkouts.test.ts', 'attacks/repositories.test.ts'],
  },
  {
    file: 'relay/tools/task-work/diff-pages.test.ts',
    guards: TASK_WORK,
    beside: ['attacks/many-diffs.test.ts', 'relay/tools/task-work/task-work.test.ts'],
  },
  {
    file: 'relay/tools/task-work/folder-files.test.ts',
    guards: TASK_WORK,
    beside: ['relay/tools/task-work/executor-folder.test.ts'],
  },
  {
    file: 'relay/tools/task-work/forge.test.ts',
    guards: [...TASK_WORK, 'test/support/forge'],
    beside: ['attacks/forge-answers.test.ts', 'relay/tools/task-work/task-work.test.ts'],
  },
  {
    file: 'relay/tools/task-work/one-checkout.test.ts',
    guards: TASK_WORK,
    beside: ['relay/tools/task-work/task-work.test.ts'],
  },
  {
    file: 'relay/agents/models/model-servers.test.ts',
    guards: ['server/agents', 'src/shared', 'test/support'],
    beside: ['relay/agents/models/models.test.ts'],
  },
  {
    file: 'relay/tools/acp/programs.test.ts',
    guards: ['server/tools', 'server/agents', 'server/platform', 'test/support/acp-agent'],
    beside: ['relay/tools/acp/programs-birth.test.ts'],
  },
  {
    file: 'relay/tools/calls/approvals.test.ts',
    guards: ['server/tools', 'server/agents', 'server/schedules', 'server/platform'],
    beside: ['attacks/yes.test.ts', 'browser/approvals.test.ts'],
  },
  {
    file: 'relay/tools/mcp-client/attached.test.ts',
    guards: ['server/tools', 'server/platform', 'server/http', 'test/support/attached-server'],
    beside: ['relay/tools/mcp-client/attached-fetched.test.ts', 'browser/attached.test.ts'],
  },
  {
    file: 'relay/tools/mcp-client/attached-odd.test.ts',
    guards: ['server/tools', 'server/platform', 'server/http', 'test/support/attached-server'],
    beside: ['relay/tools/mcp-client/attached-fetched.test.ts'],
  },
  {
    file: 'relay/tools/mcp-client/server-questions.test.ts',
    guards: ['server/tools', 'server/platform', 'test/support/attached-server'],
    beside: ['relay/tools/mcp-client/attached-fetched.test.ts', 'browser/attached.test.ts'],
  },
  {
    file: 'relay/tools/workspaces/workspaces.test.ts',
    guards: ['server/tools', 'server/platform', 'server/http'],
    beside: ['attacks/workspaces.test.ts'],
  },
  {
    file: 'relay/schedules/wake-script.test.ts',
    guards: ['server/schedules', 'server/tools', 'server/platform'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/schedules/schedules-routes.test.ts',
    guards: ['server/schedules', 'server/tools', 'server/platform', 'server/http'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/schedules/night-faults.test.ts',
    guards: ['server/schedules', 'server/store', 'server/agents'],
    beside: ['relay/schedules/schedules-claims.test.ts'],
  },
  {
    file: 'relay/schedules/night-postgres.test.ts',
    guards: ['server/schedules', 'server/store', 'server/agents'],
    beside: ['relay/schedules/schedules-claims.test.ts'],
  },
  {
    file: 'relay/startup/app-end.test.ts',
    guards: [...START, 'server/http', 'server/store'],
    beside: ['relay/startup/start.test.ts'],
  },
  {
    file: 'relay/cli/backup.test.ts',
    guards: ['server/cli', 'server/startup', 'server/store'],
    beside: ['relay/startup/start.test.ts', 'relay/store/store.test.ts'],
  },
  {
    file: 'relay/cli/kills.test.ts',
    guards: ['server/cli', 'server/startup', 'server/store'],
    beside: ['relay/startup/start.test.ts', 'relay/store/store.test.ts'],
  },
  { file: 'relay/startup/config.test.ts', guards: START, beside: ['relay/startup/start.test.ts'] },
  {
    file: 'relay/team/events/events-kills.test.ts',
    guards: ['server/team/events', 'server/store', 'test/support/killed-log', 'test/support/log-writer'],
    beside: ['relay/team/events/events-kill.test.ts'],
  },
  {
    file: 'relay/store/store-full.test.ts',
    guards: ['server/store', 'server/platform'],
    beside: ['relay/store/store.test.ts'],
  },
  {
    file: 'relay/store/database-away.test.ts',
    guards: ['server/store', ...START],
    beside: ['relay/store/store.test.ts'],
  },
  {
    file: 'relay/tools/mcp-server/mcp-conformance.test.ts',
    guards: ['server/tools/mcp-server', 'server/http'],
    beside: ['relay/tools/mcp-server/mcp.test.ts'],
  },
  {
    file: 'relay/tools/mcp-client/mcp-client-conformance.test.ts',
    guards: ['server/tools/mcp-client'],
    beside: ['relay/tools/mcp-client/attached-fetched.test.ts'],
  },
  {
    file: 'relay/households/homes.test.ts',
    guards: RELAY,
    beside: ['browser/homes.test.ts', 'attacks/owner-rights.test.ts'],
  },
  {
    file: 'relay/households/recovery.test.ts',
    guards: RELAY,
    beside: ['relay/team/events/events-kill.test.ts', 'relay/startup/start.test.ts'],
  },
  {
    file: 'relay/team/records/records.test.ts',
    guards: RELAY,
    beside: ['attacks/restored.test.ts', 'relay/team/records/records-lives.test.ts'],
  },
  {
    file: 'relay/agents/minds/rehearsal.test.ts',
    guards: RELAY,
    beside: ['relay/agents/minds/rehearsal-german.test.ts', 'browser/story.test.ts'],
  },
  { file: 'relay/agents/runs/outgrown.test.ts', guards: RELAY, beside: ['relay/agents/runs/turns.test.ts'] },
  { file: 'relay/agents/session/wake-lead.test.ts', guards: RELAY, beside: ['relay/agents/session/wake.test.ts'] },
  { file: 'relay/agents/session/wake-line.test.ts', guards: RELAY, beside: ['relay/agents/session/wake.test.ts'] },
  { file: 'relay/schedules/clock-watch.test.ts', guards: RELAY, beside: ['relay/schedules/schedules.test.ts'] },
  {
    file: 'relay/sync/sync-socket.test.ts',
    guards: RELAY,
    beside: ['relay/sync/sync-members.test.ts', 'relay/sync/sync-socket-limits.test.ts'],
  },
  { file: 'relay/tools/mcp-server/mcp-sleep.test.ts', guards: RELAY, beside: ['relay/tools/mcp-server/mcp.test.ts'] },
  { file: 'browser/ledger-stream.test.ts', guards: ROWS, beside: ['browser/ledger.test.ts', 'browser/story.test.ts'] },
];

/** Lines that git says; null where it cannot say. */
function git(...args: readonly string[]): readonly string[] | null {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : null;
}

/** In the environment: the commit that passed last, where somebody knows it. */
const LAST_PASSED = 'ROOST_LAST_PASSED';

const commit = (name: string) => git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)?.[0] ?? null;

/**
 * The commit that passed last. Where nobody says it: where this branch left the one that it goes
 * to, or else the one before.
 */
function lastPassed(): string | null {
  const named = commit(process.env[LAST_PASSED] || 'none');
  if (named !== null) return named;
  const [head] = git('rev-parse', 'HEAD') ?? [];
  const [base] = git('merge-base', '@{upstream}', 'HEAD') ?? git('merge-base', 'main', 'HEAD') ?? [];
  const before = commit('HEAD~1');
  return base === head ? before : (base ?? before);
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
      !(changed ?? []).some(
        (each) => each === `test/${file}` || [...EVERYTHING, ...guards].some((part) => isIn(each, part)),
      ),
  );
}
