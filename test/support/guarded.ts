/**
 * Tests that take long and guard few folders: a plain run leaves one out unless something has
 * changed in those. `npm run verify -- --all` runs every one, and so does naming the file.
 */
import { spawnSync } from 'node:child_process';

/** In the environment of a run: the files below `test` that it leaves out, with spaces between. */
export const LEFT_OUT = 'ROOST_TESTS_LEFT_OUT';

/** The files below `test` of which this run leaves out everything, or the long tests. */
export const leftOutOfRun = (): readonly string[] => (process.env[LEFT_OUT] ?? '').split(' ').filter(Boolean);

/** For the configuration of a run: the files that it excludes. */
export const excluded = (): readonly string[] =>
  leftOutOfRun().flatMap((file) => (hasShortForm(file) ? [] : [`test/${file}`]));

export interface Guarded {
  /** Below `test`. */
  readonly file: string;
  /** Parts of the project: folders, or modules without their ending. */
  readonly guards: readonly string[];
  /**
   * Files that run each time and hold the main point of it. The file itself: a run leaves out only
   * those of its tests that `longTests` registers.
   */
  readonly beside: readonly string[];
}

const LEDGER = ['src/worker/ledger'];
const SYNC = ['src/worker/sync', 'src/shared/replication', 'server/sync'];
const TALK = ['src/shared/relay-client', 'server/log', 'server/agents/session'];
const START = ['server/startup', 'server/relay', 'server/main', 'server/platform'];

/** What agents work on tasks by: checkouts, git, and the person's answers. */
const TASK_WORK = [
  ...['server/projects/work', 'server/projects/checkouts', 'server/projects/board', 'server/platform/git'],
  ...['src/shared/domain/projects', 'src/shared/protocol/attempts', 'src/shared/protocol/projects'],
  ...['test/support/person-repository'],
];
/** What a call of a tool passes through, and the programs that it starts. */
const CALLS = ['server/approvals/requests', 'server/platform/processes'];
/** A session, and the runs in it. */
const SESSION = ['server/agents/session', 'server/agents/runs'];
/** What makes a summary of the older part of a conversation. */
const COMPACTION = [
  'server/agents/runs',
  'server/agents/minds',
  'server/agents/models',
  'src/shared/domain/compaction',
];
const MCP_CLIENT = [...CALLS, 'server/mcp/client', 'server/platform/guarded-fetch', 'test/support/mcp-server'];
/** All that the data worker keeps its rows by. */
const ROWS = [...LEDGER, 'src/worker/worker', 'src/shared/protocol/documents', 'src/shared/rpc'];

/** What any of them may depend on. */
const EVERYTHING = ['package-lock'];

export const GUARDED: readonly Guarded[] = [
  {
    file: 'browser/phone.test.ts',
    guards: ['src/service-worker', 'server/http/pages', 'server/startup', 'server/access', 'vite.config'],
    beside: ['browser/phone.test.ts', 'faults/later-parts.test.ts'],
  },
  {
    file: 'relay/projects/checkouts/repositories.test.ts',
    guards: ['server/projects/checkouts', 'server/platform/git'],
    beside: ['relay/projects/checkouts/repositories.test.ts'],
  },
  {
    file: 'browser/scenes.test.ts',
    guards: ['src/page/ui/grid', 'src/page/ui/shell', 'src/page/state/unread', 'server/agents/session'],
    beside: ['browser/scenes.test.ts', 'browser/story.test.ts'],
  },
  {
    file: 'browser/exports.test.ts',
    guards: ['src/page/exports', 'src/page/ui/exports', 'src/shared/replication'],
    beside: [
      'browser/hostile-export.test.ts',
      'unit/page/exports/household.test.ts',
      'unit/page/exports/agent.test.ts',
    ],
  },
  {
    file: 'browser/ticks.test.ts',
    guards: ['src/page/exports', 'src/page/ui/exports'],
    beside: ['browser/hostile-export.test.ts', 'unit/page/exports/consent.test.ts'],
  },
  {
    file: 'browser/schedule.test.ts',
    guards: ['src/page/ui/schedule', 'src/page/ui/routines', 'src/page/state/schedules', 'server/schedules'],
    beside: ['relay/schedules/schedules.test.ts', 'unit/page/ui/schedule/schedule.test.tsx'],
  },
  {
    file: 'browser/needs.test.ts',
    guards: [
      'src/page/ui/approvals',
      'src/page/ui/inbox',
      'src/page/state/waiting',
      'src/page/state/at-work',
      'server/approvals/requests',
    ],
    beside: ['browser/approvals.test.ts', 'unit/page/ui/approvals/unseen.test.tsx'],
  },
  {
    file: 'browser/records.test.ts',
    guards: ['src/page/ui/records', 'src/page/state/records', 'server/team/records'],
    beside: ['attacks/restored.test.ts', 'browser/restored.test.ts', 'unit/page/ui/records/record-approvals.test.tsx'],
  },
  {
    file: 'browser/files.test.ts',
    guards: ['src/page/ui/files', 'src/page/state/files', 'server/files/workspaces', 'server/files/history'],
    beside: ['browser/talking.test.ts', 'unit/page/ui/files/files.test.tsx'],
  },
  {
    file: 'browser/unread.test.ts',
    guards: ['src/page/state/unread', 'src/page/state/conversations', 'src/shared/domain/read-marks'],
    beside: ['browser/remembering.test.ts', 'unit/page/ui/unread.test.tsx'],
  },
  {
    file: 'relay/notifications/notifications-order.test.ts',
    guards: ['server/notifications', 'server/schedules'],
    beside: ['relay/notifications/notifications.test.ts'],
  },
  {
    file: 'relay/agents/wakes/granted-wakes.test.ts',
    guards: ['server/agents/wakes', 'server/team/gate', 'server/approvals/requests'],
    beside: ['relay/agents/wakes/wakes.test.ts', 'relay/team/gate/gate-processes.test.ts'],
  },
  {
    file: 'relay/agents/wakes/flags-cleared.test.ts',
    guards: ['server/agents/wakes', 'server/team/pauses', 'server/team/gate', 'server/team/threads'],
    beside: ['relay/agents/wakes/wakes.test.ts', 'relay/team/pauses/sleeping.test.ts'],
  },
  {
    file: 'relay/log/damaged-log.test.ts',
    guards: ['server/log', 'server/store'],
    beside: ['relay/log/events.test.ts', 'relay/log/events-kill.test.ts'],
  },
  {
    file: 'relay/store/store-thread.test.ts',
    guards: ['server/store', 'server/startup'],
    beside: ['relay/store/store.test.ts', 'relay/store/store-power.test.ts'],
  },
  {
    file: 'browser/engines.test.ts',
    guards: ['src/service-worker', 'src/shared/rpc', 'src/worker', 'vite.config'],
    beside: ['browser/story.test.ts'],
  },
  {
    file: 'browser/devices.test.ts',
    guards: [...SYNC, 'src/shared/protocol/sync', 'src/page/ui/devices', 'server/access'],
    beside: ['browser/direct.test.ts', 'faults/one-wake.test.ts', 'relay/sync/sync-members.test.ts'],
  },
  {
    file: 'browser/exports-page.test.ts',
    guards: ['src/page/exports', 'src/page/ui/exports', 'src/page/ui/storage', 'src/worker/ledger/ledger'],
    beside: ['browser/hostile-export.test.ts', 'unit/page/exports/household.test.ts'],
  },
  {
    file: 'browser/bench.test.ts',
    guards: ['test/bench', 'test/support/bench-page'],
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
    guards: [
      'src/page/ui/chat',
      'src/page/ui/parts',
      'src/page/ui/design',
      'src/page/ui/palette',
      'src/page/ui/attachments',
    ],
    beside: ['browser/talking.test.ts', 'browser/phone.test.ts'],
  },
  {
    file: 'browser/layout.test.ts',
    guards: ['src/page/ui/design', 'src/page/ui/grid', 'src/page/ui/shell', 'src/page/ui/app'],
    beside: ['browser/phone.test.ts', 'browser/story.test.ts'],
  },
  {
    file: 'browser/reach.test.ts',
    guards: [
      'src/page/ui/threads',
      'src/page/ui/wakes',
      'src/page/ui/clients',
      'server/agents/wakes',
      'server/team/threads',
    ],
    beside: ['browser/talking.test.ts', 'relay/agents/wakes/wakes.test.ts'],
  },
  {
    file: 'browser/early-press.test.ts',
    guards: ['src/page/main', 'src/page/ui/shell', 'src/page/ui/grid', 'src/worker/worker', 'src/shared/rpc'],
    beside: ['browser/story.test.ts'],
  },
  {
    file: 'browser/projects.test.ts',
    guards: ['src/page/ui/projects', 'src/page/state/projects', 'server/projects/board', 'server/projects/work'],
    beside: ['browser/first-merge.test.ts', 'relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'browser/connect.test.ts',
    guards: ['src/page/ui/models', 'src/page/ui/welcome', 'server/agents/models'],
    beside: ['relay/agents/models/models.test.ts', 'browser/story.test.ts'],
  },
  {
    file: 'browser/language.test.ts',
    guards: ['src/page', 'src/shared/domain/names', 'vite.config'],
    beside: ['unit/page/language/texts.test.ts'],
  },
  {
    file: 'browser/long-conversation.test.ts',
    guards: ['src/page/ui/chat', 'src/page/state/conversations', 'src/page/state/conversation-log'],
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
  {
    file: 'faults/forgetting.test.ts',
    guards: [
      ...[...LEDGER, ...SYNC, 'server/store/forgetting', 'server/store/said', 'server/households/forgetting'],
      ...['server/team/memory', 'src/shared/domain/forgetting', 'src/page/exports'],
    ],
    beside: ['attacks/forgotten.test.ts', 'attacks/forgotten-conversation.test.ts', 'browser/forgotten.test.ts'],
  },
  { file: 'faults/relay-kill.test.ts', guards: TALK, beside: ['relay/log/events-kill.test.ts'] },
  { file: 'faults/tab-kill.test.ts', guards: TALK, beside: ['browser/story.test.ts'] },
  { file: 'faults/line-cut.test.ts', guards: TALK, beside: ['relay/households/events-stream.test.ts'] },
  { file: 'faults/replication.test.ts', guards: SYNC, beside: ['relay/sync/sync-entries.test.ts'] },
  {
    file: 'relay/sync/sync-replication.test.ts',
    guards: [...SYNC, 'server/store'],
    beside: ['relay/sync/sync-entries.test.ts'],
  },
  {
    file: 'relay/projects/checkouts/huge-repositories.test.ts',
    guards: ['server/projects/checkouts', 'server/projects/work', 'server/platform'],
    beside: ['attacks/many-diffs.test.ts', 'relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/projects/checkouts/damage.test.ts',
    guards: ['server/projects/checkouts', 'server/projects/work', 'server/platform'],
    beside: ['relay/projects/checkouts/checkouts.test.ts', 'attacks/repositories.test.ts'],
  },
  {
    file: 'relay/projects/work/diff-pages.test.ts',
    guards: TASK_WORK,
    beside: ['attacks/many-diffs.test.ts', 'relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/projects/work/folder-files.test.ts',
    guards: TASK_WORK,
    beside: ['relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/projects/work/forge.test.ts',
    guards: [...TASK_WORK, 'test/support/forge'],
    beside: ['attacks/forge-answers.test.ts', 'relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/projects/work/one-checkout.test.ts',
    guards: TASK_WORK,
    beside: ['relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/agents/models/model-servers.test.ts',
    guards: ['server/agents/models', 'server/agents/minds', 'test/support/model-servers'],
    beside: ['relay/agents/models/models.test.ts'],
  },
  {
    file: 'relay/agents/minds/acp/programs.test.ts',
    guards: [...CALLS, 'server/agents/minds/acp', 'server/agents/runs', 'test/support/acp-agent'],
    beside: ['relay/agents/minds/acp/programs-birth.test.ts'],
  },
  {
    file: 'relay/agents/minds/acp/programs-birth.test.ts',
    guards: ['server/agents/minds/acp', 'server/agents/session', 'test/support/acp-agent'],
    beside: ['relay/agents/minds/acp/programs-birth.test.ts'],
  },
  {
    file: 'relay/approvals/requests/approvals.test.ts',
    guards: [...CALLS, 'server/execution/sandbox', 'server/execution/shell', 'server/agents/runs'],
    beside: ['attacks/yes.test.ts', 'browser/approvals.test.ts'],
  },
  {
    file: 'relay/mcp/client/mcp-servers.test.ts',
    guards: MCP_CLIENT,
    beside: ['relay/mcp/client/mcp-servers-fetched.test.ts', 'browser/mcp-servers.test.ts'],
  },
  {
    file: 'relay/mcp/client/mcp-servers-odd.test.ts',
    guards: MCP_CLIENT,
    beside: ['relay/mcp/client/mcp-servers-fetched.test.ts'],
  },
  {
    file: 'relay/mcp/client/mcp-servers-lines.test.ts',
    guards: MCP_CLIENT,
    beside: ['relay/mcp/client/mcp-servers-fetched.test.ts'],
  },
  {
    file: 'relay/mcp/client/server-questions.test.ts',
    guards: MCP_CLIENT,
    beside: ['relay/mcp/client/mcp-servers-fetched.test.ts', 'browser/mcp-servers.test.ts'],
  },
  {
    file: 'relay/files/workspaces/workspaces.test.ts',
    guards: ['server/files/workspaces', 'server/execution/hands', 'server/platform/bytes-below'],
    beside: ['attacks/workspaces.test.ts'],
  },
  {
    file: 'relay/schedules/wake-script.test.ts',
    guards: ['server/schedules', 'server/execution/sandbox', 'server/platform/processes'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/schedules/wake-schedule.test.ts',
    guards: ['server/schedules', 'server/approvals/requests'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/schedules/run-cost.test.ts',
    guards: ['server/schedules', 'server/team/costs', 'src/shared/domain/request-cost', 'src/shared/domain/prices'],
    beside: ['relay/agents/session/wake-cost.test.ts'],
  },
  {
    file: 'relay/startup/remove-household.test.ts',
    guards: ['server/startup', 'server/households', 'server/store', 'server/sync'],
    beside: ['attacks/forgotten.test.ts'],
  },
  {
    file: 'relay/schedules/schedules-routes.test.ts',
    guards: ['server/schedules', 'src/shared/protocol/schedules'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/schedules/schedules-faults.test.ts',
    guards: ['server/schedules', 'server/store'],
    beside: ['relay/schedules/schedules-claims.test.ts'],
  },
  {
    file: 'relay/schedules/schedules-postgres.test.ts',
    guards: ['server/schedules', 'server/store'],
    beside: ['relay/schedules/schedules-claims.test.ts'],
  },
  {
    file: 'relay/startup/app-end.test.ts',
    guards: START,
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
    file: 'relay/log/events-kills.test.ts',
    guards: ['server/log', 'server/store', 'test/support/killed-log', 'test/support/log-writer'],
    beside: ['relay/log/events-kill.test.ts'],
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
    file: 'relay/mcp/server/mcp-conformance.test.ts',
    guards: ['server/mcp/server', 'server/http'],
    beside: ['relay/mcp/server/mcp.test.ts'],
  },
  {
    file: 'relay/mcp/client/mcp-client-conformance.test.ts',
    guards: ['server/mcp/client'],
    beside: ['relay/mcp/client/mcp-servers-fetched.test.ts'],
  },
  {
    file: 'relay/households/homes.test.ts',
    guards: ['server/households', 'server/access', 'server/sync', 'server/log', 'server/startup/app'],
    beside: ['browser/homes.test.ts', 'attacks/owner-rights.test.ts'],
  },
  {
    file: 'relay/households/recovery.test.ts',
    guards: ['server/households', 'server/store', 'server/startup/app', 'server/schedules', 'server/log'],
    beside: ['relay/log/events-kill.test.ts', 'relay/startup/start.test.ts'],
  },
  {
    file: 'relay/team/records/records.test.ts',
    guards: ['server/team/records', 'server/store', 'src/shared/protocol/records'],
    beside: ['attacks/restored.test.ts', 'relay/team/records/records-lives.test.ts'],
  },
  {
    file: 'relay/agents/minds/rehearsal.test.ts',
    guards: ['server/agents/minds', 'src/shared/domain/prompts', 'src/shared/domain/toolsets', 'CLAUDE'],
    beside: ['relay/agents/minds/rehearsal-german.test.ts', 'browser/story.test.ts'],
  },
  {
    file: 'relay/agents/runs/outgrown.test.ts',
    guards: ['server/agents/runs', 'server/agents/minds', 'server/agents/models'],
    beside: ['relay/agents/runs/turns.test.ts'],
  },
  {
    file: 'relay/agents/session/wake-lead.test.ts',
    guards: [...SESSION, 'CLAUDE'],
    beside: ['relay/agents/session/wake.test.ts'],
  },
  {
    file: 'relay/agents/session/wake-line.test.ts',
    guards: [...SESSION, 'server/agents/models'],
    beside: ['relay/agents/session/wake.test.ts'],
  },
  {
    file: 'relay/schedules/clock-watch.test.ts',
    guards: ['server/schedules', 'server/startup'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/sync/sync-socket.test.ts',
    guards: ['server/sync', 'server/http/upgrade', 'src/shared/protocol/sync'],
    beside: ['relay/sync/sync-members.test.ts', 'relay/sync/sync-socket-limits.test.ts'],
  },
  {
    file: 'relay/mcp/server/mcp-sleep.test.ts',
    guards: ['server/mcp/server', 'server/approvals/requests', 'server/team/pauses'],
    beside: ['relay/mcp/server/mcp.test.ts'],
  },
  {
    file: 'relay/projects/work/task-work.test.ts',
    guards: TASK_WORK,
    beside: ['relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/projects/work/executor-folder.test.ts',
    guards: [...TASK_WORK, 'server/execution', 'server/files/workspaces', 'server/platform/processes'],
    beside: ['relay/projects/work/executor-folder.test.ts'],
  },
  {
    file: 'relay/projects/work/left-out.test.ts',
    guards: TASK_WORK,
    beside: ['relay/projects/work/left-out.test.ts'],
  },
  {
    file: 'relay/projects/work/relay-commits.test.ts',
    guards: TASK_WORK,
    beside: ['relay/projects/work/relay-commits.test.ts'],
  },
  { file: 'relay/projects/work/revert.test.ts', guards: TASK_WORK, beside: ['relay/projects/work/revert.test.ts'] },
  {
    file: 'relay/projects/work/project-routine.test.ts',
    guards: [...TASK_WORK, 'server/schedules'],
    beside: ['relay/projects/work/task-work.test.ts', 'relay/projects/work/demo.test.ts'],
  },
  {
    file: 'relay/projects/board/projects-fire.test.ts',
    guards: ['server/projects/board', 'server/store', 'test/faults/projects-fire'],
    beside: ['relay/projects/board/projects-claims.test.ts'],
  },
  {
    file: 'relay/schedules/scheduled-wakes.test.ts',
    guards: ['server/schedules', 'server/team/gate', 'server/team/inbox'],
    beside: ['relay/schedules/scheduled-wakes.test.ts'],
  },
  {
    file: 'relay/schedules/routine-mappings.test.ts',
    guards: ['server/schedules', 'src/shared/domain/routine-mappings', 'server/projects/board'],
    beside: ['relay/schedules/routine-mappings.test.ts'],
  },
  {
    file: 'relay/projects/work/line-comments.test.ts',
    guards: TASK_WORK,
    beside: ['relay/projects/work/line-comments.test.ts'],
  },
  {
    file: 'relay/projects/work/unprepared.test.ts',
    guards: [...TASK_WORK, 'server/schedules'],
    beside: ['relay/projects/work/relay-commits.test.ts', 'relay/schedules/obstacles.test.ts'],
  },
  {
    file: 'relay/projects/work/executor-time.test.ts',
    guards: [...TASK_WORK, 'server/agents/runs'],
    beside: ['relay/projects/work/task-work.test.ts'],
  },
  {
    file: 'relay/agents/runs/every-mind.test.ts',
    guards: [...COMPACTION, 'test/support/model-servers'],
    beside: ['relay/agents/runs/compaction.test.ts'],
  },
  {
    file: 'relay/agents/runs/compaction.test.ts',
    guards: [...COMPACTION, 'server/agents/session'],
    beside: ['relay/agents/runs/compaction.test.ts'],
  },
  {
    file: 'relay/agents/runs/run.test.ts',
    guards: ['server/agents/runs', 'server/log', 'server/store', 'test/support/run-starter'],
    beside: ['relay/agents/runs/run.test.ts'],
  },
  {
    file: 'relay/agents/models/models.test.ts',
    guards: ['server/agents/models', 'server/agents/minds', 'server/agents/runs'],
    beside: ['relay/agents/models/models.test.ts'],
  },
  {
    file: 'relay/schedules/starts.test.ts',
    guards: [...TASK_WORK, ...SESSION, 'server/schedules', 'server/execution/hands'],
    beside: ['relay/schedules/starts.test.ts'],
  },
  {
    file: 'relay/schedules/schedules.test.ts',
    guards: ['server/schedules', 'server/agents/runs'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/schedules/schedules-moving.test.ts',
    guards: ['server/schedules', 'server/team/records', 'server/startup'],
    beside: ['relay/schedules/schedules.test.ts'],
  },
  {
    file: 'relay/startup/start.test.ts',
    guards: ['server/startup', 'server/start', 'server/roost', 'vite.config'],
    beside: ['relay/startup/start.test.ts'],
  },
  {
    file: 'relay/cli/upgrade.test.ts',
    guards: ['server/cli', 'server/exams', 'src/shared/domain/exams'],
    beside: ['relay/cli/upgrade.test.ts'],
  },
  {
    file: 'relay/access/tailnet.test.ts',
    guards: ['server/access', 'server/startup', 'server/relay', 'server/http', 'src/shared/protocol/device-codes'],
    beside: ['relay/access/access.test.ts'],
  },
  {
    file: 'relay/files/history/undo.test.ts',
    guards: ['server/files/history', 'server/files/workspaces', 'test/support/undo'],
    beside: ['relay/files/history/history.test.ts', 'attacks/undo.test.ts'],
  },
  { file: 'relay/cli/doctor.test.ts', guards: ['server/cli', 'server/startup'], beside: ['relay/cli/doctor.test.ts'] },
  { file: 'relay/bench.test.ts', guards: ['test/bench'], beside: ['relay/bench.test.ts'] },
  { file: 'browser/ledger.test.ts', guards: ROWS, beside: ['browser/ledger.test.ts'] },
  { file: 'browser/ledger-tabs.test.ts', guards: ROWS, beside: ['browser/ledger-tabs.test.ts'] },
  {
    file: 'browser/without-relay.test.ts',
    guards: [...SYNC, 'src/page/ui/devices', 'server/access'],
    beside: ['browser/direct.test.ts', 'relay/sync/sync-members.test.ts'],
  },
  {
    file: 'browser/move-in.test.ts',
    guards: ['src/page/exports', 'src/page/ui/exports'],
    beside: ['unit/page/exports/imports/move-in.test.ts', 'unit/page/exports/imports/chatgpt.test.ts'],
  },
  {
    file: 'browser/exams.test.ts',
    guards: ['server/exams', 'src/page/ui/exams', 'src/shared/domain/exams', 'src/shared/protocol/exams'],
    beside: ['relay/exams/exams.test.ts', 'unit/page/ui/exams/exams.test.tsx'],
  },
  { file: 'browser/ledger-stream.test.ts', guards: ROWS, beside: ['browser/ledger.test.ts', 'browser/story.test.ts'] },
];

/** Whether this file runs each time, without its long tests. */
const hasShortForm = (file: string) => GUARDED.some((each) => each.file === file && each.beside.includes(file));

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
