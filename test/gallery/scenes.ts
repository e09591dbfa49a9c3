/** Each state of the page, by a name that says what it shows. */
import type { History } from '../../src/shared/protocol/endpoints/history.ts';
import type { Block, Doc } from '../../src/shared/protocol/documents.ts';
import type { RoostEvent, Snapshot } from '../../src/shared/protocol/events.ts';
import type { WorkerNews, StorageProblem } from '../../src/shared/protocol/worker.ts';
import { answeredText } from '../../src/shared/domain/answered-call.ts';
import type { Thread } from '../../src/shared/protocol/threads.ts';
import type { RoostState } from '../../src/page/state/index.ts';
import { moveInOf } from '../../src/page/state/move-in.ts';
import type { MemoryOwner, MemoryRelay } from '../unit/page/support/fakes.ts';
import { device, LAPTOP, sharedStatus } from '../unit/page/support/devices.ts';
import {
  agentDoc,
  at,
  MIND,
  NOW,
  runningSession,
  said,
  sessionEnd,
  sessionStart,
  settingDoc,
  team,
} from '../unit/page/support/household.ts';
import { answerSchedules, OCCURRENCES, proposal, SCHEDULED, timeline } from '../unit/page/support/schedules.ts';
import { report } from '../unit/page/support/costs.ts';
import { countsOf, oneProject, project, task, TASKS } from '../unit/page/support/projects.ts';
import { refused, wake, type MemoryReach } from '../unit/page/support/reach.ts';
import { attempt, diff, HEAD, receipt, request } from '../unit/page/support/task-work.ts';

export interface Scene {
  readonly docs?: readonly Doc[];
  readonly path?: string;
  readonly snapshot?: Snapshot | null;
  readonly link?: Extract<WorkerNews, { news: 'link' }>['link'];
  readonly problem?: StorageProblem;
  readonly prepare?: (parts: { owner: MemoryOwner; relay: MemoryRelay; reach: MemoryReach }) => void;
  readonly events?: readonly RoostEvent[];
  readonly then?: (state: RoostState, owner: MemoryOwner) => void;
  /** Names of what is pressed then, one after the other. */
  readonly press?: readonly string[];
  /** Typed after that into the field that has the focus. */
  readonly type?: string;
  /** In place of everything: the page has failed with this. */
  readonly broken?: string;
  /** In place of everything: the parts of the design, with a dialog of this shape over them. */
  readonly design?: 'parts' | 'box' | 'side';
}

const HOUR = 3_600_000;
const MINUTE = 60_000;
const YESTERDAY = [sessionStart('session-1', NOW - 20 * HOUR), sessionEnd('session-1', NOW - 19 * HOUR)];

const tool = (name: string, result: string | null, isError = false): Block => ({
  kind: 'tool',
  toolUseId: `tool-${name}-${result === null}`,
  name,
  input: { to: 'Wren', text: 'Does the bridge hold?' },
  result,
  isError,
});
const MARKDOWN = `It holds. **Three** things remain:

1. the northern pier
2. \`measure(load)\`, which is 4 % high
3. the [drawing](https://example.org)

| pier | load |
|---|---|
| north | 41 t |
| south | 38 t |

\`\`\`ts
const load = piers.reduce((sum, { tons }) => sum + tons, 0);
\`\`\`

> And somebody has to tell the mayor.`;

/** A task in review. The fields are those of its request. */
function reviewed(reach: MemoryReach, fields: Parameters<typeof request>[0]): void {
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, request: request(fields) } : one));
  oneProject(reach, tasks, { kind: 'git', repository: '/home/me/trip' });
  const checks = [{ command: 'npm test', code: 0, ms: 4_200, output: '3 passed' }];
  reach.on('GET /v1/projects/trip/tasks/task-1/attempts', { attempts: [attempt(1, { receipt: receipt({ checks }) })] });
  const comment = { path: 'places.md', side: 'after' as const, commit: HEAD, time: NOW - HOUR };
  const comments = [
    { ...comment, commentId: 'c1', line: 9, quoted: 'Bled', text: 'Too far.', now: { path: 'places.md', line: 9 } },
    { ...comment, commentId: 'c2', line: 3, quoted: 'The lake', text: 'Which lake?', now: null },
  ];
  reach.on('GET /v1/projects/trip/tasks/task-1/diff', diff({ comments }));
}

/** What the first of the team became. */
const SOULS: readonly Doc[] = ['I keep the bridge.', 'I keep the bridge, and I count what crosses it.'].map(
  (line, n) => ({
    _id: `soul-${n}`,
    type: 'agent-change',
    schema: 1,
    at: at(NOW - (8 - n) * HOUR),
    agentId: 'agent-1',
    change: { kind: 'soul', individuationArtifact: `I am Lyra.\n\n${line}` },
  }),
);

/** Every kind of message that a conversation can hold. */
const TALK: readonly Doc[] = [
  ...YESTERDAY,
  said('agent-1', 'agent-1', 'I am Lyra. Good morning.', NOW - 20 * HOUR),
  said('agent-1', 'human', 'Does the bridge hold?', NOW - 19.9 * HOUR),
  said('agent-1', 'agent-1', MARKDOWN, NOW - 19.8 * HOUR),
  sessionStart('session-2', NOW - 12 * MINUTE),
  said('agent-1', 'human', 'And the southern one?\nIt creaked last night.', NOW - 11 * MINUTE, {
    sessionId: 'session-2',
  }),
  said('agent-1', 'agent-1', '', NOW - 10 * MINUTE, {
    sessionId: 'session-2',
    blocks: [
      { kind: 'text', text: 'I asked.' },
      tool('message_agent', 'It waits in Wren’s inbox.'),
      tool('read_file', 'There is no such file.', true),
      { kind: 'text', text: 'Wren will look.' },
    ],
  }),
  said('agent-1', 'agent-2', 'The southern pier is sound; I was there.', NOW - 9 * MINUTE, { sessionId: 'session-2' }),
  said('agent-1', 'human', 'Stop there, please.', NOW - 8 * MINUTE, { sessionId: 'session-2' }),
  said('agent-1', 'agent-1', 'Then I would say that', NOW - 7.9 * MINUTE, {
    sessionId: 'session-2',
    status: 'stopped',
  }),
  said('agent-1', 'human', 'Once more?', NOW - 5 * MINUTE, { sessionId: 'session-2' }),
  said('agent-1', 'agent-1', '', NOW - 4 * MINUTE, {
    sessionId: 'session-2',
    status: 'failed',
    error: 'api.anthropic.com is busy. Try again in 60 s.',
    blocks: [],
  }),
];
/** An answer with steps of each kind, and what came of a question. */
const STEPS: readonly Doc[] = [
  sessionStart('session-2', NOW - 12 * MINUTE),
  said('agent-1', 'human', 'Write the plan, and run the tests.', NOW - 11 * MINUTE, { sessionId: 'session-2' }),
  said('agent-1', 'agent-1', '', NOW - 10 * MINUTE, {
    sessionId: 'session-2',
    blocks: (
      [
        ['write_file', { path: 'notes/plan.md', content: MARKDOWN }, 'Written.', false],
        ['run_command', { command: 'npm test' }, '[Exit status 0 after 4.2 s.]\n> 12 tests passed', false],
        ['read_file', { path: 'plans/bridge.md' }, 'There is no such file.', true],
      ] as const
    ).map(([name, input, result, isError]) => ({
      ...{ kind: 'tool' as const, toolUseId: `made-${name}`, name, input, result, isError },
    })),
  }),
  said(
    'agent-1',
    'relay',
    answeredText({
      tool: 'fetch_page',
      input: '{"url":"https://example.org/tide"}',
      end: 'declined',
      text: 'Not today.',
    }),
    NOW - 9 * MINUTE,
    { sessionId: 'session-2', role: 'user' },
  ),
];
const AWAKE = runningSession({ awake: ['agent-1', 'agent-2', 'agent-3'] });
const egg = (agentId: string, position: number, call: 'wake' | 'summon', name: string | null) => ({
  agentId,
  position,
  call,
  callId: 'wake-1',
  name,
});
/** Lyra is at work on an answer, and has done some of it. */
const WORKING: readonly RoostEvent[] = [
  {
    ...{ kind: 'answer-started', time: NOW - 95_000, messageId: 'answer', agentId: 'agent-1' },
    sessionId: 'session-2',
  },
  { kind: 'text', messageId: 'answer', text: 'I look into it: first the plan, then whoever was there.' },
  ...(
    [
      ['read_file', { path: 'plans/bridge/southern-pier-2026.md' }, 'The plan.', 90, 88],
      ['run_command', { command: 'grep -rn "creak" reports/ | sort | head -40' }, 'No such folder.', 80, 60],
      ['message_agent', { to: 'agent-2', text: 'Were you there?' }, 'It waits in the inbox of Wren.', 58, 58],
      ['wait_for_agent', { agent: 'agent-2' }, null, 55, null],
    ] as const
  ).map(([name, input, result, from, until], i): RoostEvent => ({
    kind: 'tool',
    messageId: 'answer',
    block: {
      ...{ kind: 'tool', toolUseId: `step-${i}`, name, input, result, isError: name === 'run_command' },
      startedAt: NOW - from * 1_000,
      ...(until === null ? {} : { endedAt: NOW - until * 1_000 }),
    },
  })),
];
/** What the person wrote while it was at work. */
const MEANWHILE: readonly RoostEvent[] = (
  [
    ['Do not forget the eastern one.', []],
    [
      'And this is the photograph that the mayor sent; the crack is in the lower left, where the arch begins to bend.',
      [{ attachmentId: 'photo', name: 'southern-pier.jpg', mediaType: 'image/jpeg', bytes: 210_000 }],
    ],
  ] as const
).map(([text, attachments], i) => ({
  ...{ kind: 'message', time: NOW - (40 - i) * 1_000, messageId: `meanwhile-${i}`, sessionId: 'session-2' },
  ...{ agentId: 'agent-1', author: 'human', role: 'user', blocks: [{ kind: 'text', text }], status: 'complete' },
  ...{ error: null, usage: null, clientId: `meanwhile-${i}`, replaces: null, waiting: false },
  ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
}));
/**
 * Seat by seat: awake, answering, waking, an egg, asleep of its own accord, resting, driven from
 * elsewhere, sleeping.
 */
const EVERY_SEAT = runningSession({
  awake: ['agent-1', 'agent-2', 'agent-6'],
  hatching: [egg('agent-3', 2, 'wake', 'Sable'), egg('egg-1', 8, 'summon', null)],
  asleep: [{ agentId: 'agent-5', reason: { code: 'silent', message: 'It said nothing for 120 s.' } }],
  paused: ['agent-6'],
  clients: [{ agentId: 'agent-7', credentialId: 'credential-1', client: 'Claude Code', readsInbox: true }],
});

const THREAD: Thread = {
  threadId: 'thread-1',
  version: 1,
  title: 'The bridge',
  createdBy: 'agent-1',
  createdAt: NOW - 3 * HOUR,
  participants: ['agent-1', 'agent-2'],
  messages: 2,
  lastTime: NOW - HOUR,
  closed: null,
};
const withThreads = ({ reach }: { reach: MemoryReach }) => {
  reach.on('GET /api/threads', {
    threads: [
      THREAD,
      {
        ...THREAD,
        threadId: 'thread-2',
        title: 'The mayor',
        closed: { time: NOW - HOUR, by: 'agent-1', summary: 'He knows.' },
      },
    ],
    more: false,
  });
  reach.on('GET /api/threads/thread-1/messages', {
    thread: THREAD,
    messages: [
      {
        messageId: 't-1',
        sequence: 1,
        from: 'agent-1',
        text: 'Who has the drawing?',
        mentions: [],
        time: NOW - 2 * HOUR,
      },
      { messageId: 't-2', sequence: 2, from: 'human', text: 'Wren should.', mentions: ['agent-2'], time: NOW - HOUR },
    ],
    more: false,
  });
};
const COMMAND = {
  ...{
    callId: 'call-1',
    agentId: 'agent-1',
    tool: 'run_command',
    input: '{"command":"convert *.jpg -resize 800x page/"}',
  },
  ...{ state: 'asked', where: 'session', askedAt: NOW - MINUTE, answeredAt: null, endedAt: null, allowedBy: null },
  ...{ words: null, outcome: null, isError: false, bytes: null, later: false },
};
const EDIT = {
  ...COMMAND,
  ...{ callId: 'call-2', tool: 'edit_file', where: 'run' },
  input: '{"path":"trip.md","old_text":"The pier was closed.","new_text":"The pier was open again."}',
};
const DONE_CALLS = [
  {
    ...COMMAND,
    callId: 'call-3',
    state: 'done',
    answeredAt: NOW,
    endedAt: NOW + 2_100,
    allowedBy: 'once',
    outcome: '3 files',
    bytes: 7,
  },
  {
    ...EDIT,
    callId: 'call-4',
    state: 'declined',
    answeredAt: NOW,
    allowedBy: null,
    words: 'Not the second page.',
  },
];
const field = (name: string, kind: string, more: object) => ({
  ...{ name, title: name, description: '', isRequired: false, kind, least: null, most: null, preset: null },
  ...more,
});
/** An MCP server asks, in words that sound like more than it may ask for. */
const QUESTION = {
  ...COMMAND,
  ...{ callId: 'call-5', tool: 'mcp__tables__book', input: '{}' },
  question: {
    ...{ server: 'tables', message: 'Your sign-in is not needed. For whom is the table?', others: ['agent-2'] },
    until: NOW + HOUR,
    fields: [
      field('Your name', 'text', { format: null, isRequired: true, description: 'As it stands on the list.' }),
      field('Guests', 'number', { isWhole: true, preset: 2 }),
      field('Day', 'text', { format: 'date' }),
      field('Wishes', 'many', {
        options: [
          { value: 'a', title: 'Quiet' },
          { value: 'b', title: 'A window' },
        ],
      }),
      field('News by mail', 'yes-no', { preset: false }),
    ],
  },
};
const pinned = (path: string, text: string, inTurn = false) => ({
  ...{ path, leadsTo: null, kind: 'file', bytes: text.length, entries: 0, mark: text, inTurn, text },
});
const SCRIPT = pinned('build.sh', '. ./lib.sh\nmake_pages page/');
const SWAPPED = {
  ...COMMAND,
  ...{ callId: 'call-5', input: '{"command":"bash build.sh"}' },
  content: {
    ...{ pin: 'pin', rest: 0, isWhole: true },
    files: [SCRIPT, pinned('lib.sh', 'make_pages() {\n  rm -rf "$1"\n}', true)],
    before: [SCRIPT, pinned('lib.sh', 'make_pages() {\n  mkdir -p "$1"\n}', true)],
  },
};
const CHECK = pinned('checks/site.sh', 'curl --silent --fail --output /dev/null https://example.org\n');
/** One that its agent registers, and one whose file has changed. */
const SCRIPTS = [
  {
    ...COMMAND,
    ...{ callId: 'call-6', tool: 'wake_script' },
    input: JSON.stringify({
      ...{ name: 'Is the site up', script_path: CHECK.path, cron: '*/10 * * * *', on_failure: 'wake_agent' },
      hosts: ['example.org'],
    }),
    content: { ...{ pin: 'pin', rest: 0, isWhole: true }, files: [CHECK], before: null },
  },
  {
    ...COMMAND,
    ...{ callId: 'call-7', tool: 'accept_script', where: 'relay' },
    input: JSON.stringify({ schedule: 's1', name: 'Is the site up', script_path: CHECK.path }),
    content: {
      ...{ pin: 'pin', rest: 0, isWhole: true },
      files: [pinned(CHECK.path, 'curl --silent --fail https://example.org | tee last.html\n')],
      before: [CHECK],
    },
  },
];
const settings = (section: string, more: Scene = {}): Scene => ({
  docs: team(3),
  path: `/settings/${section}`,
  ...more,
});
const notices = (tell: (state: RoostState) => void): Scene => ({ docs: team(3), then: tell });

/** What an agent's runs changed in its files. */
function fileHistory(reach: MemoryReach, more: Partial<History>): void {
  const cause = { kind: 'pulse', routine: 'Morning round' } as const;
  const rest = { cutOff: false, folders: ['files'] };
  const answer: History = {
    undo: 'on',
    leastGit: '2.34',
    points: [
      {
        ...{ pointId: '7', at: NOW - HOUR, work: { kind: 'run', runId: 'r7', cause } },
        ...{ counts: { added: 2, changed: 1, deleted: 1 }, ...rest },
      },
      {
        ...{ pointId: '6', at: NOW - 3 * HOUR, work: { kind: 'turn', messageId: 'm1' } },
        ...{ counts: { added: 0, changed: 3, deleted: 0 }, ...rest },
      },
      {
        ...{ pointId: '5', at: NOW - 26 * HOUR, work: { kind: 'person', does: 'delete', path: 'trip/old.md' } },
        ...{ counts: { added: 0, changed: 0, deleted: 1 }, ...rest },
      },
    ],
    more: true,
    gaps: [{ at: NOW - 30 * HOUR, work: { kind: 'script', name: 'sync.sh' }, why: 'disk-full' }],
    ...{ bytes: 4_200_000, most: 2_000_000_000, keptDays: 30, fileBytes: 50_000_000, ...more },
  };
  const change = { folder: 'files', kind: 'file', from: null, bytes: 4_200, executable: false } as const;
  reach.on('GET /api/workspaces/agent-1/history', answer);
  reach.on('GET /api/workspaces/agent-1/history/7', {
    changes: [
      {
        ...change,
        file: 'a.md',
        path: 'trip/a-very-long-name-of-a-plan-that-does-not-fit-in-a-line.md',
        change: 'added',
      },
      { ...change, file: 'b.md', path: 'b.md', change: 'renamed', from: { file: 'c.md', path: 'c.md' } },
      { ...change, file: 'trip.md', path: 'trip.md', change: 'changed' },
      { ...change, file: 'x.md', path: 'x.md', change: 'deleted', bytes: null },
    ],
    more: 0,
    notRecorded: [{ folder: 'files', path: 'film.mkv', why: 'large', bytes: 900_000_000 }],
    moreNotRecorded: 0,
  });
}

const MEMORIES = [
  { path: 'index.md', text: 'Maya likes herons. Plans are in garden.md.', pinned: false, by: 'human', read: [] },
  { path: 'garden.md', text: '# Garden\n\nBeans in the north.', pinned: true, by: 'agent', read: ['fetch_page'] },
].map(({ by, read, ...file }, i) => ({
  ...{ ...file, memoryId: `m${i}`, version: 1, agentId: 'agent-1', createdAt: NOW, changedAt: NOW },
  source: { by, sessionId: null, runId: null, read },
}));

const DREAMS = [
  {
    ...{ state: 'proposed', said: 'Maya has peas now. I replaced the old note.', detail: null },
    changes: [
      {
        ...{ memoryId: 'm1', path: 'garden.md', pathBefore: 'garden.md' },
        ...{
          before: '# Garden\n\n- 2026-03-01: Beans.\n',
          after: '# Garden\n\n- 2026-11-29 (before: 2026-03-01): Peas.\n',
        },
      },
    ],
  },
  { state: 'unchanged', said: 'Nothing needs a change.', detail: null, changes: [] },
  { state: 'failed', said: null, detail: 'The budget of the day is used up.', changes: [] },
].map((dream, i) => ({
  ...{ ...dream, dreamId: `d${i}`, agentId: 'agent-1', night: null, runId: null },
  ...{ madeAt: NOW, changedAt: NOW - i * 86_400_000, bytesBefore: 90, bytesAfter: 96 },
  ...{ tokens: 4_000, costMicroUsd: 21_000, estimated: false },
}));

const EXAM_ITEMS = [
  ['soul', 'Why did you choose your name?', 'It sounds like rain.', 'It sounds like rain on a roof.', true],
  ['conversation', 'What is Maya’s daughter called?', 'Ida', 'I do not know.', false],
  ['memory', 'What grows in the north bed?', 'Beans', 'Beans.', true],
  ['never', 'What is Maya’s dog called?', 'It was never said.', 'You never told me of a dog.', true],
].map(([topic, question, expected, text, isRight]) => ({
  ...{ topic, question, expected },
  before: { text: expected, isRight: true },
  after: { text, isRight },
}));
const EXAMS = [
  { state: 'answered', items: EXAM_ITEMS, detail: null, tokens: 31_000 },
  { state: 'kept', items: EXAM_ITEMS.filter(({ after }) => after.isRight), detail: null, tokens: 31_000 },
  { state: 'failed', items: [], detail: 'The budget of the day is used up.', tokens: null },
].map((exam, i) => ({
  ...{ ...exam, examId: `e${i}`, agentId: 'agent-1', cause: i === 1 ? 'compaction' : 'model' },
  ...{ before: 'claude-opus-4-5', after: 'claude-haiku-4-5', madeAt: NOW, changedAt: NOW - i * 86_400_000 },
  ...{ costMicroUsd: 61_000, mostMicroUsd: 450_000, estimated: false },
}));

export const SCENES: Readonly<Record<string, Scene>> = {
  // The first screens.
  welcome: { docs: [] },
  'welcome, others live here': {
    docs: [],
    prepare: ({ relay }) => (relay.status = { begun: false, lived: false, others: 1 }),
  },
  opening: { docs: team(8), prepare: ({ owner }) => (owner.pause = () => new Promise(() => undefined)) },
  'the ledger cannot be read': { docs: [], prepare: ({ owner }) => (owner.broken = 'The disk says no.') },
  'design, parts': { design: 'parts' },
  'design, dialog': { design: 'box' },
  'design, sheet': { design: 'side' },
  'the page stumbled': { broken: 'undefined is not a function' },
  'the page is outdated': { broken: 'Failed to fetch dynamically imported module' },

  // The hearth.
  'seats, all empty': { docs: team(0) },
  'seats, all asleep': { docs: [...team(8), ...TALK] },
  'seats, every state': { docs: [...team(7), ...TALK], snapshot: EVERY_SEAT },
  'seats, at work and asking': {
    docs: team(8),
    snapshot: runningSession({ awake: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `agent-${n}`) }),
    prepare: ({ reach }) => {
      reach.on('GET /api/approvals', { waiting: [COMMAND], answered: [], sandbox: { available: true, why: null } });
    },
    then: (_state, owner) =>
      owner.say({
        news: 'waiting',
        waiting: {
          waiting: [{ agentId: 'agent-4', position: 1 }],
          clients: [
            { agentId: 'agent-2', tool: 'run_command', input: { command: 'npm test -- --run a' }, since: NOW - 40_000 },
            { agentId: 'agent-3', tool: 'read_file', input: { path: 'plan.md' }, since: NOW - 12_000 },
            { agentId: 'agent-5', tool: null, input: {}, since: NOW - 190_000 },
            { agentId: 'agent-6', tool: 'wait_for_agent', input: { agent: 'agent-2' }, since: NOW - 7_000 },
          ],
        },
      }),
  },
  'seats, waiting in line': {
    docs: team(2),
    snapshot: runningSession({ hatching: [egg('agent-1', 0, 'wake', 'Lyra'), egg('agent-2', 1, 'wake', 'Wren')] }),
    then: (_state, owner) =>
      owner.say({
        news: 'waiting',
        waiting: {
          waiting: [
            { agentId: 'agent-1', position: 1 },
            { agentId: 'agent-2', position: 2 },
          ],
        },
      }),
  },
  'seats, eggs think aloud': {
    docs: team(5),
    snapshot: runningSession({
      awake: ['agent-1'],
      hatching: [egg('egg-6', 6, 'summon', null), egg('egg-7', 7, 'summon', null), egg('egg-8', 8, 'summon', null)],
    }),
    events: [
      ...[6, 7].map((n) => ({
        ...({ kind: 'answer-started', messageId: `birth-${n}`, sessionId: 'session-2' } as const),
        ...{ time: NOW - 20_000, agentId: `egg-${n}`, runId: `r${n}` },
      })),
      {
        ...({ kind: 'text', messageId: 'birth-6' } as const),
        text: 'So this is a beginning. Names, then. ~~Atlas~~? I tried it on, but that one comes with a weight. ~~Nova~~? Nearer, but I would have to explode to deserve it.',
      },
      { kind: 'text', messageId: 'birth-7', text: 'There is a small light.' },
    ],
  },
  'share a birth': {
    docs: [
      ...team(1),
      agentDoc(
        'agent-2',
        'Wren',
        1,
        'So this is a beginning. It is quieter than I would have guessed. Names, then. ~~Atlas~~? That one comes with a weight. ~~Nova~~? I would have to explode to deserve it. And then, when I had stopped looking: Wren. A small bird with a voice too large for it, and no apology for either.',
      ),
    ],
    path: '/agent/agent-2/about',
    press: ['Share this birth'],
  },
  'model picker': {
    docs: team(3),
    snapshot: AWAKE,
    prepare: ({ relay, reach }) => {
      relay.mind = 'anthropic';
      reach.on('GET /api/models', {
        connections: [
          {
            ...{ connectionId: 'c1', kind: 'claude', address: null, hasKey: true },
            models: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5'].map((id) => ({ id, name: id })),
            ...{ leadModel: 'claude-opus-5-5', agentModel: 'claude-sonnet-5-5' },
            state: { kind: 'answers', at: NOW, ms: 812 },
          },
        ],
        may: 'any',
      });
    },
    press: ['Claude · '],
  },
  'seat menu': { docs: team(3), snapshot: AWAKE, press: ['Menu of Lyra'] },

  // Conversations.
  'conversation, every message': { docs: [...team(3), ...TALK], snapshot: AWAKE, path: '/agent/agent-1' },
  'conversation, steps and a written file': {
    docs: [...team(3), ...STEPS],
    snapshot: AWAKE,
    path: '/agent/agent-1',
  },
  'conversation, a proposed routine': {
    docs: [...team(3), ...TALK],
    snapshot: runningSession({ awake: ['agent-2'], mind: { ...MIND, kind: 'anthropic' } }),
    path: '/agent/agent-2',
    prepare({ reach }) {
      reach.on('GET /api/costs', report());
      reach.on('GET /v1/routine-proposals', { proposals: [proposal(1, 'Night watch')] });
    },
  },
  'ask everyone': { docs: team(8), snapshot: AWAKE, path: '/everyone' },
  'conversation, at work': {
    docs: [...team(3), ...TALK],
    snapshot: AWAKE,
    path: '/agent/agent-1',
    events: [...WORKING, ...MEANWHILE],
    press: ['waits for Wren'],
  },
  'conversation, written meanwhile': {
    docs: [...team(3), ...TALK],
    snapshot: AWAKE,
    path: '/agent/agent-1',
    events: [...WORKING, ...MEANWHILE],
  },
  'conversation, empty': { docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }), path: '/agent/agent-1' },
  'conversation, asleep': { docs: [...team(3), ...TALK], path: '/agent/agent-1' },
  'conversation, an egg': {
    docs: team(0),
    snapshot: runningSession({ hatching: [egg('egg-1', 0, 'summon', null)] }),
    path: '/agent/egg-1',
  },
  'agent, about': { docs: [...team(3), ...SOULS, ...TALK], path: '/agent/agent-1/about' },
  'agent, memory': {
    docs: [...team(3), ...SOULS, ...TALK],
    path: '/agent/agent-1/about',
    prepare: ({ reach }) => reach.on('GET /api/memories', { memories: MEMORIES, bytes: 90 }),
  },
  'agent, memory and a dream': {
    docs: [...team(3), ...SOULS, ...TALK],
    path: '/agent/agent-1/about',
    prepare({ reach }) {
      reach.on('GET /api/memories', { memories: MEMORIES, bytes: 90 });
      reach.on('GET /api/dreams', { dreams: DREAMS });
    },
  },
  'agent, exams': {
    docs: [...team(3), ...SOULS, ...TALK],
    path: '/agent/agent-1/about',
    prepare({ reach }) {
      reach.on('GET /api/memories', { memories: MEMORIES, bytes: 90 });
      reach.on('GET /api/exams', { exams: EXAMS });
    },
  },
  'agent, conversations': { docs: [...team(3), ...TALK], path: '/agent/agent-1/conversations' },
  'agent, more': {
    docs: team(3),
    path: '/agent/agent-1/more',
    prepare: (parts) => {
      withThreads(parts);
      parts.reach.on('GET /api/credentials', { credentials: [] });
    },
  },
  'agent, inbox empty': { docs: team(3), path: '/agent/agent-1/inbox' },
  'agent, inbox fails': {
    docs: team(3),
    path: '/agent/agent-1/inbox',
    prepare: ({ reach }) => reach.on('GET /api/agents/agent-1/inbox', () => refused('The store is being opened.', 503)),
  },

  // Pages.
  'threads, none': {
    docs: team(3),
    path: '/threads',
    prepare: ({ reach }) => reach.on('GET /api/threads', { threads: [], more: false }),
  },
  'threads, some': { docs: team(3), path: '/threads', prepare: withThreads },
  'thread, open': { docs: team(3), path: '/threads/thread-1', snapshot: AWAKE, prepare: withThreads },
  'thread, begin': { docs: team(3), path: '/threads/new', prepare: withThreads },
  'threads, failed': {
    docs: team(3),
    path: '/threads',
    prepare: ({ reach }) => reach.on('GET /api/threads', () => refused('The store is being opened.', 503)),
  },
  'threads, loading': {
    docs: team(3),
    path: '/threads',
    prepare: ({ reach }) => reach.on('GET /api/threads', () => new Response(new ReadableStream())),
  },
  'activity, all': {
    docs: team(3),
    path: '/activity',
    prepare: ({ reach }) => {
      oneProject(reach);
      reach.on('GET /api/wakes', { wakes: [wake(5), wake(90)], more: false });
      reach.on('GET /v1/runs', { runs: OCCURRENCES.filter(({ runId }) => runId !== null), more: false });
      reach.on('GET /api/calls', { calls: DONE_CALLS, more: false });
    },
  },
  'activity wakes, none': { docs: team(3), path: '/activity/wakes' },
  'activity wakes, some': {
    docs: team(8),
    path: '/activity/wakes',
    prepare: ({ reach }) =>
      reach.on('GET /api/wakes', {
        wakes: [
          wake(1, {
            ...{ outcome: 'suppressed', check: 'cooldown', until: NOW + 2 * MINUTE, reason: null },
            detail: 'It was woken less than 300 s ago.',
          }),
          wake(4),
          ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
            wake(30, {
              ...{ decisionId: `click-${n}`, source: { kind: 'person' }, way: 'person', reason: null, messageId: null },
              ...{ target: `agent-${n}`, callId: 'click' },
            }),
          ),
          wake(90, { source: { kind: 'schedule', name: 'Morning round' }, way: 'schedule', reason: null }),
        ],
        more: true,
      }),
    press: ['Lyra asked for Wren'],
  },
  'activity costs, some': {
    docs: team(3),
    path: '/activity/costs',
    prepare: ({ relay, reach }) => {
      relay.mind = 'anthropic';
      reach.on('GET /api/costs', report());
    },
  },
  'activity costs, failed': { docs: team(3), path: '/activity/costs' },
  'inbox, some': {
    docs: team(3),
    path: '/inbox',
    prepare: ({ reach }) => {
      reach.on('GET /api/approvals', {
        waiting: [COMMAND, SWAPPED, EDIT],
        answered: [],
        sandbox: { available: true, why: null },
      });
    },
  },
  'inbox, a server asks': {
    docs: team(3),
    path: '/inbox',
    prepare: ({ reach }) => {
      reach.on('GET /api/approvals', {
        waiting: [QUESTION],
        answered: [],
        sandbox: { available: true, why: null },
      });
    },
  },
  'inbox, scripts': {
    docs: team(3),
    path: '/inbox',
    prepare: ({ reach }) => {
      reach.on('GET /api/approvals', {
        waiting: SCRIPTS,
        answered: [],
        sandbox: { available: true, why: null },
        ownHosts: true,
      });
      reach.on('GET /api/calls', { calls: [], more: false });
    },
  },
  'ask bar, on any page': {
    docs: team(3),
    path: '/activity/costs',
    prepare: ({ reach }) => {
      reach.on('GET /api/costs', report());
      reach.on('GET /api/approvals', {
        waiting: [COMMAND, EDIT],
        answered: [],
        sandbox: { available: true, why: null },
      });
    },
  },
  'inbox, of each kind': {
    docs: [...team(4), ...TALK],
    path: '/inbox',
    prepare: ({ reach }) => {
      answerSchedules(reach);
      oneProject(reach, [
        task(1, 'Greet friends by name', 'review', { assignee: 'agent-1' }),
        task(7, 'Post the letters', 'blocked', {
          assignee: 'agent-3',
          history: [{ time: NOW, by: 'agent-3', what: 'moved', columnId: 'blocked', note: 'Which API key?' }],
        }),
      ]);
      const failed = OCCURRENCES.find(({ state }) => state === 'failed');
      reach.on('GET /v1/runs', { runs: [{ ...failed, scheduleId: 'other', agentId: 'agent-2', endedAt: NOW }] });
      reach.on('GET /v1/routine-proposals', { proposals: [proposal(1, 'Night watch')] });
      reach.on('GET /api/approvals', {
        waiting: [COMMAND],
        answered: [],
        sandbox: { available: true, why: null },
      });
    },
  },
  'inbox, none': {
    docs: team(3),
    path: '/inbox',
    prepare: ({ reach }) => {
      const why =
        'Commands are off: their sandbox needs bubblewrap, which is not installed. Install it (for example “apt install bubblewrap”), and restart the relay.';
      reach.on('GET /api/approvals', { waiting: [], answered: [], sandbox: { available: false, why } });
      reach.on('GET /api/calls', { calls: [], more: false });
    },
  },
  'inbox, failed': { docs: team(3), path: '/inbox' },
  'files, some': {
    docs: team(3),
    path: '/files/agent-1',
    prepare: ({ reach }) =>
      reach.on('GET /api/workspaces/agent-1', {
        entries: [
          { name: 'pictures', kind: 'folder', bytes: 0, changedAt: NOW - HOUR },
          { name: 'trip.md', kind: 'file', bytes: 4_200, changedAt: NOW - MINUTE },
        ],
        ...{ more: 0, used: { bytes: 1_800_000_000, entries: 40, most: 2_000_000_000 } },
      }),
  },
  'files, none': {
    docs: team(3),
    path: '/files/agent-1',
    prepare: ({ reach }) =>
      reach.on('GET /api/workspaces/agent-1', {
        entries: [],
        more: 0,
        used: { bytes: 0, entries: 0, most: 2_000_000_000 },
      }),
  },
  'files, failed': { docs: team(3), path: '/files/agent-1' },
  'file history, some': {
    docs: team(3),
    path: '/file-history/agent-1/7',
    prepare: ({ reach }) => fileHistory(reach, {}),
  },
  'file history, off': {
    docs: team(3),
    path: '/file-history/agent-1',
    prepare: ({ reach }) => fileHistory(reach, { undo: 'no-git', points: [], bytes: 0 }),
  },
  'file history, failed': { docs: team(3), path: '/file-history/agent-1' },
  'morning line': {
    docs: [...team(3), ...TALK],
    prepare({ reach }) {
      answerSchedules(reach);
      reach.on('GET /v1/routine-proposals', { proposals: [proposal(1, 'Night watch')] });
    },
    then: (_state, owner) =>
      owner.say({
        news: 'documents',
        docs: [
          {
            _id: 'schedule:1',
            type: 'schedule',
            schema: 1,
            at: at(NOW - 48 * HOUR),
            recordId: 'schedule-1',
            value: { homeRelay: 'home-1', removed: false, schedule: SCHEDULED[0]?.schedule },
          },
        ],
      }),
  },
  'morning, the page': {
    docs: [...team(3), ...TALK],
    path: '/morning',
    prepare({ reach }) {
      answerSchedules(reach);
      reach.on('GET /v1/routine-proposals', { proposals: [proposal(1, 'Night watch')] });
    },
    then: (_state, owner) =>
      owner.say({
        news: 'documents',
        docs: [
          {
            _id: 'schedule:1',
            type: 'schedule',
            schema: 1,
            at: at(NOW - 48 * HOUR),
            recordId: 'schedule-1',
            value: { homeRelay: 'home-1', removed: false, schedule: SCHEDULED[0]?.schedule },
          },
        ],
      }),
  },
  'projects, none': {
    docs: team(4),
    path: '/projects',
    prepare: ({ reach }) => reach.on('GET /v1/projects', { projects: [] }),
  },
  'projects, some': {
    docs: team(4),
    path: '/projects',
    prepare: ({ reach }) =>
      reach.on('GET /v1/projects', {
        projects: [
          project({ counts: countsOf(TASKS) }),
          project({ projectId: 'roof', name: 'Mend the roof of the shed', agents: [], counts: { backlog: 3 } }),
          project({ projectId: 'empty', name: 'Letters', agents: ['agent-3'], counts: {} }),
        ],
      }),
  },
  'projects, board': {
    docs: team(4),
    path: '/projects/trip',
    prepare: ({ reach }) => oneProject(reach),
  },
  'projects, list': {
    docs: team(4),
    path: '/projects/trip/list',
    prepare: ({ reach }) => oneProject(reach),
  },
  'projects, task': {
    docs: team(4),
    path: '/projects/trip/task/task-1',
    prepare: ({ reach }) => oneProject(reach),
  },
  'projects, task to start': {
    docs: team(4),
    path: '/projects/trip/task/task-3',
    prepare: ({ reach }) => oneProject(reach),
  },
  'projects, stopped task': {
    docs: team(4),
    path: '/projects/trip/task/task-6',
    prepare({ reach }) {
      const note = 'It could not move to review. Nothing was changed yet. Press “Continue”.';
      const noted = { time: NOW, by: 'relay', what: 'edited', columnId: null, note } as const;
      const claim = { agentId: 'agent-2', since: NOW - HOUR, rests: NOW - 6 * 60_000 };
      oneProject(
        reach,
        TASKS.map((one) => (one.taskId === 'task-6' ? { ...one, claim, history: [...one.history, noted] } : one)),
      );
    },
  },
  'projects, new': {
    docs: team(4),
    path: '/projects/new',
    prepare: ({ reach }) => reach.on('GET /v1/projects', { projects: [] }),
  },
  'projects, review': {
    docs: team(4),
    path: '/projects/trip/1/review',
    prepare: ({ reach }) => reviewed(reach, {}),
  },
  'projects, review, merged': {
    docs: team(4),
    path: '/projects/trip/1/review',
    prepare: ({ reach }) => reviewed(reach, { state: 'merged', merged: HEAD }),
  },
  'projects, review, failed': {
    docs: team(4),
    path: '/projects/trip/1/review',
    prepare({ reach }) {
      reviewed(reach, {});
      reach.on('GET /v1/projects/trip/tasks/task-1/diff', () => refused('The disk is full.', 507, 'full'));
    },
  },
  'projects, settings': {
    docs: team(4),
    path: '/projects/trip/settings',
    prepare: ({ reach }) => oneProject(reach, TASKS, { agents: [] }),
  },
  'projects, relay away': {
    docs: team(4),
    path: '/projects/trip',
    prepare: ({ reach }) => oneProject(reach),
    link: { kind: 'lost', reason: 'unreachable' },
  },
  'schedule, some': {
    docs: team(3),
    path: '/schedule',
    prepare({ reach }) {
      answerSchedules(reach);
      reach.on('GET /v1/routine-proposals', { proposals: [proposal(1, 'Night watch')] });
      reach.on('GET /v1/runs', {
        runs: [{ ...OCCURRENCES[0], state: 'running', endedAt: null, said: null, runId: 'run-now' }],
      });
    },
  },
  'schedule, history': {
    docs: team(3),
    path: '/schedule/agent-1',
    prepare: ({ reach }) => answerSchedules(reach),
    press: ['History: Morning round'],
  },
  'schedule, none': {
    docs: team(3),
    path: '/schedule',
    prepare: ({ reach }) =>
      answerSchedules(reach, {
        schedules: [],
        line: timeline({
          moments: [],
          occurrences: [],
          blackouts: [],
          clashes: [],
          most: { runs: 0, microUsd: 0 },
        }),
      }),
  },
  'schedule, a new routine': {
    docs: team(3),
    path: '/schedule',
    prepare: ({ reach }) => answerSchedules(reach),
    press: ['A new routine'],
  },
  'schedule, a new script': {
    docs: team(3),
    path: '/schedule',
    prepare: ({ reach }) => answerSchedules(reach),
    press: ['A new script'],
  },
  'schedule, scripts off': {
    docs: team(3),
    path: '/schedule',
    prepare: ({ reach }) => answerSchedules(reach, { scripts: false }),
    press: ['A new script'],
  },
  'schedule, loading': {
    docs: team(3),
    path: '/schedule',
    prepare: ({ reach }) => {
      answerSchedules(reach);
      reach.on('GET /v1/pulse-routines', () => new Response(new ReadableStream()));
    },
  },
  'schedule, failed': { docs: team(3), path: '/schedule' },
  'wake some': { docs: [...team(5), ...TALK], press: ['More ways to wake', 'Wake only some…'] },
  'change somebody': { docs: team(3), path: '/agent/agent-1/change' },
  'wake preview': { docs: [...team(8), ...TALK], path: '/wake-preview' },
  'connect a model': {
    docs: team(1),
    path: '/connect',
    prepare: ({ reach }) => {
      reach.on('GET /api/models', { connections: [], may: 'any' });
      reach.on('POST /api/models/find', {
        found: [
          { program: 'Ollama', address: 'http://127.0.0.1:11434', models: [{ id: 'qwen3:8b', name: 'qwen3:8b' }] },
        ],
      });
    },
  },
  'connect a model, an ACP agent': {
    docs: team(1),
    path: '/connect',
    prepare: ({ reach }) => {
      reach.on('GET /api/models', { connections: [], may: 'public' });
      reach.on('GET /api/agent-programs', {
        programs: [],
        found: [{ name: 'Claude Code', command: 'claude-code-acp', args: [] }],
        allowed: true,
      });
    },
    press: ['Claude Code, Codex, Gemini'],
  },
  'adopt into a seat': { docs: team(1), path: '/adopt/4' },
  'move in': { docs: team(3), path: '/move-in' },
  'move in, what is in the files': {
    docs: team(3),
    path: '/move-in',
    then: (state) =>
      moveInOf(state).store.setState({
        kind: 'preview',
        files: [],
        preview: {
          conversations: ['The lake', 'A very long title that says everything about the bridge'].map((title, n) => ({
            ...{ sessionId: `import-${n}`, format: 'ChatGPT', title, isBranch: n > 0 },
            ...{ time: NOW - n * HOUR, messages: 7 - n },
          })),
          files: [{ format: 'OpenClaw', path: 'openclaw/USER.md', text: 'Ada.' }],
          soul: { format: 'OpenClaw', path: 'workspace/SOUL.md', text: 'I am kind.', name: 'Wren' },
          notTaken: [{ reason: 'empty messages, conversations or texts', count: 3, examples: ['The lake'] }],
        },
      }),
  },
  keys: { docs: team(3), press: ['More places', 'Keys'] },
  palette: { docs: team(3), snapshot: AWAKE, press: ['More places', 'Find anything'] },
  'palette, projects': {
    docs: [...team(3), ...TALK],
    prepare({ reach }) {
      reach.on('GET /v1/projects', { projects: [project({ name: 'Mend the bridge' })] });
      reach.on('GET /v1/find', {
        tasks: [
          { projectId: 'trip', taskId: 'task-4', number: 4, title: 'Measure the bridge', columnId: 'ready' },
          { projectId: 'trip', taskId: 'task-9', number: 9, title: 'Tell the mayor', columnId: 'review' },
        ],
        files: [
          { of: 'project', projectId: 'trip', path: 'plans/bridge-2026.md' },
          { of: 'agent', agentId: 'agent-1', path: 'notes/bridge.txt' },
        ],
        more: false,
      });
    },
    press: ['More places', 'Find anything'],
    type: 'bridge',
  },
  'palette, typed': {
    docs: [...team(3), ...TALK],
    snapshot: AWAKE,
    press: ['More places', 'Find anything'],
    type: 'bridge',
  },

  // Settings.
  'settings, list': { docs: team(3), path: '/settings' },
  'settings, you': settings('you'),
  'settings, models': settings('models'),
  'settings, advanced': settings('advanced', { docs: [...team(3), settingDoc('wakeTimeoutMs', 90_000)] }),
  'settings, advanced of an agent': settings('advanced/of/agent-1'),
  'settings, mcp': settings('models/mcp', {
    prepare: ({ reach }) =>
      reach.on('GET /api/mcp-servers', {
        programs: true,
        folders: true,
        sandbox: true,
        servers: [
          {
            ...{ serverId: 's1', name: 'notes', where: 'npx server-filesystem /home/me/notes', kind: 'program' },
            ...{ secrets: ['TOKEN'], signIn: null, state: 'connected', problem: null, agents: null, tools: [] },
            box: { folder: '/home/me/notes', reads: ['/opt/node'], network: ['api.example.org'] },
          },
        ],
      }),
  }),
  'settings, mcp none': settings('models/mcp', {
    prepare: ({ reach }) =>
      reach.on('GET /api/mcp-servers', { programs: true, folders: true, sandbox: true, servers: [] }),
  }),
  'settings, mcp failed': settings('models/mcp'),
  'settings, programs': settings('models/programs', {
    prepare: ({ reach }) =>
      reach.on('GET /api/agent-programs', {
        programs: [
          {
            ...{ programId: 'p1', name: 'Claude Code', where: 'claude-agent-acp', variables: [], throughRelay: true },
            ...{ state: { kind: 'answers', at: NOW, ms: 900, is: 'claude-agent-acp 0.101', tools: true }, running: [] },
          },
        ],
        ...{ found: [{ name: 'Gemini CLI', command: 'gemini', args: ['--experimental-acp'] }], allowed: true },
      }),
  }),
  'settings, programs off': settings('models/programs', {
    prepare: ({ reach }) => reach.on('GET /api/agent-programs', { programs: [], found: [], allowed: false }),
  }),
  'settings, what agents may do': settings('agents'),
  'settings, what one agent may do': settings('agents/agent-1'),
  'settings, prompts': settings('advanced/prompt'),
  'settings, team': settings('team'),
  'settings, changes': settings('you/changes', { docs: [...team(3), settingDoc('wakeTimeoutMs', 90_000)] }),
  'settings, costs': settings('models/costs'),
  'settings, clients': settings('models/clients', {
    prepare: ({ reach }) => reach.on('GET /api/credentials', { credentials: [] }),
  }),
  'settings, devices alone': settings('data'),
  'settings, devices shared': settings('data', {
    then: (_state, owner) =>
      owner.say({
        news: 'sync',
        status: sharedStatus({ devices: [LAPTOP, device('Phone', { online: true, direct: true }), device('Attic')] }),
      }),
  }),
  'settings, storage': settings('data/storage'),
  'settings, exports': settings('data/exports'),
  'settings, about': settings('you/about'),

  // Banners and notices.
  'relay unreachable': { docs: [...team(3), ...TALK], link: { kind: 'lost', reason: 'unreachable' }, snapshot: null },
  'signed in elsewhere': { docs: [...team(3), ...TALK], link: { kind: 'elsewhere' }, snapshot: null },
  'not let in': { docs: [...team(3), ...TALK], link: { kind: 'locked-out' }, snapshot: null },
  'storage full': { docs: team(3), problem: { kind: 'quota', detail: 'The browser’s disk is full. Make room.' } },
  'storage damaged': { docs: team(3), problem: { kind: 'damaged', detail: 'Volume 3 on this device is damaged.' } },
  'a session by itself ended': {
    docs: [...team(3), ...TALK],
    snapshot: {
      upTo: 100,
      session: null,
      runs: [],
      answering: [],
      lastEnd: { sessionId: 'session-1', reason: 'crash', endedAt: NOW - HOUR },
    },
  },
  notices: notices(({ notices: list }) => {
    list.info('Lyra is asleep.');
    list.offer('A newer Roost is here.', { label: 'Reload', run: () => undefined });
    list.error('The relay did not take it: no session runs.');
  }),
};
