import { beforeEach, describe, expect, it } from 'vitest';
import {
  createDataWorkerClient,
  type WorkerConnectionEnds,
  type DataWorkerClient,
} from '../../../../src/worker/ledger/index.ts';
import { WORKER_CONNECTION } from '../../../../src/worker/ledger/settings.ts';
import {
  type FromDataWorker,
  type HouseholdView,
  WORKER_METHODS,
  type WorkerNews,
  type StorageStatus,
  type ToDataWorker,
} from '../../../../src/shared/protocol/worker.ts';
import { createRpcServer } from '../../../../src/shared/rpc/server.ts';
import { createManualTimers, type ManualTimers } from '../../../support/manual-timers.ts';
import { aloneSyncAnswers } from '../../../support/sync-calls.ts';

const welcome: WorkerNews = {
  news: 'welcome',
  link: { kind: 'connecting' },
  snapshot: null,
  answers: [],
  problem: null,
};

const NOBODY: HouseholdView = {
  identities: [],
  changes: [],
  settings: [],
  records: [],
  queued: [],
  forgetting: [],
  forgotten: [],
  forgets: [],
  newest: '',
};

let timers: ManualTimers;
let lines: { readonly ends: WorkerConnectionEnds; readonly sent: ToDataWorker[]; closed: boolean }[];
let client: DataWorkerClient;
const line = (number: number) => {
  const found = lines[number];
  if (!found) throw new Error(`There is no line ${number}.`);
  return found;
};

beforeEach(() => {
  timers = createManualTimers();
  lines = [];
  let ids = 0;
  client = createDataWorkerClient({
    after: timers.after,
    newId: () => `call-${++ids}`,
    open(ends) {
      const opened = { ends, sent: [] as ToDataWorker[], closed: false };
      lines.push(opened);
      return {
        send: (message) => opened.sent.push(message),
        close: () => {
          opened.closed = true;
        },
      };
    },
  });
});

describe('a tab’s connection to the owner', () => {
  it('answers a call with the owner’s answer', async () => {
    const call = client.call('append', []);
    expect(line(0).sent).toEqual([{ call: 'append', id: 'call-1', args: [[]] }]);
    line(0).ends.take({ reply: 'call-1', ok: true, value: { written: 0 } });
    expect(await call).toEqual({ written: 0 });
  });

  it('rejects with the owner’s words and the name of the error', async () => {
    const call = client.call('append', []);
    line(0).ends.take({
      reply: 'call-1',
      ok: false,
      error: { name: 'StorageProblemError', message: 'The disk is full.' },
    });
    await expect(call).rejects.toMatchObject({ name: 'StorageProblemError', message: 'The disk is full.' });
  });

  it('keeps the welcome for the first listener', () => {
    line(0).ends.take(welcome);
    const heard: WorkerNews[] = [];
    client.subscribe((news) => heard.push(news));
    line(0).ends.take({ news: 'problem', problem: null });
    expect(heard).toEqual([welcome, { news: 'problem', problem: null }]);
  });

  it('sends unanswered calls again, with their ids, when a new owner welcomes it', async () => {
    const call = client.call('household');
    line(0).ends.take(welcome);
    line(0).ends.gone();
    timers.advance(WORKER_CONNECTION.reopen);
    expect(line(1).sent).toEqual([]);
    line(1).ends.take(welcome);
    expect(line(1).sent).toEqual([{ call: 'household', id: 'call-1', args: [] }]);
    line(1).ends.take({ reply: 'call-1', ok: true, value: NOBODY });
    expect(await call).toEqual(NOBODY);
  });

  it('opens a new line where a call stays unanswered: the owner may have ended without a word', () => {
    void client.call('household');
    timers.advance(WORKER_CONNECTION.renew);
    expect(line(0).sent.at(-1)).toEqual({ ping: true });
    expect(lines).toHaveLength(1);
    timers.advance(WORKER_CONNECTION.renew);
    expect(lines).toHaveLength(2);
    expect(line(0).closed).toBe(true);
  });

  it('says so when an owner that was there answers nothing more, however many lines are opened to it', () => {
    const heard: WorkerNews[] = [];
    client.subscribe((news) => heard.push(news));
    line(0).ends.take(welcome);
    void client.call('household');
    timers.advance(2 * WORKER_CONNECTION.renew + WORKER_CONNECTION.silence);
    expect(lines.length).toBeGreaterThan(2);
    expect(heard.at(-1)).toMatchObject({ news: 'problem', problem: { kind: 'no-owner' } });
  });

  it('waits for an owner that is there, however long its work takes', () => {
    void client.call('rebuild');
    for (let second = 0; second < 60; second++) {
      timers.advance(WORKER_CONNECTION.renew);
      if (JSON.stringify(line(0).sent.at(-1)) === JSON.stringify({ ping: true })) line(0).ends.take({ pong: true });
    }
    expect(lines).toHaveLength(1);
  });

  it('ignores messages of a line that it has left', () => {
    const heard: WorkerNews[] = [];
    client.subscribe((news) => heard.push(news));
    line(0).ends.gone();
    timers.advance(WORKER_CONNECTION.reopen);
    line(0).ends.take(welcome);
    line(0).ends.gone();
    timers.advance(WORKER_CONNECTION.reopen);
    expect(heard).toEqual([]);
    expect(lines).toHaveLength(2);
  });

  it('says so when nobody answers for long, or the worker cannot be started', () => {
    const heard: WorkerNews[] = [];
    client.subscribe((news) => heard.push(news));
    timers.advance(WORKER_CONNECTION.silence);
    line(0).ends.gone('the script is missing');
    expect(heard.map((news) => (news.news === 'problem' ? news.problem?.kind : news.news))).toEqual([
      'no-owner',
      'no-owner',
    ]);
    expect(heard.at(-1)).toMatchObject({ problem: { detail: expect.stringContaining('the script is missing') } });
  });

  it('says nothing more once it is closed', () => {
    client.close();
    line(0).ends.gone();
    timers.advance(60_000);
    expect(lines).toHaveLength(1);
    expect(line(0).closed).toBe(true);
    expect(timers.waiting()).toEqual([]);
  });
});

describe('the owner’s desk', () => {
  const status: StorageStatus = {
    persisted: null,
    usedBytes: null,
    quotaBytes: null,
    journalRows: 0,
    documents: 0,
    kinds: [],
    volumes: [],
    lastExport: null,
  };
  const answers = {
    household: () => Promise.resolve(NOBODY),
    append: () => Promise.reject(Object.assign(new Error('The disk is full.'), { name: 'StorageProblemError' })),
    conversation: () => Promise.resolve({ messages: [], sessions: [], runs: [], read: [], before: null }),
    wakeMaterial: () => Promise.resolve([]),
    storage: () => Promise.resolve(status),
    documents: () => Promise.resolve({ docs: [], after: null, of: 0 }),
    within: () => Promise.resolve({ docs: [], after: null, of: 0 }),
    findSentence: () => Promise.resolve({ documents: {}, volumes: 0, entries: 0, found: 0 }),
    mentioning: () => Promise.reject(new Error('unused')),
    covered: () => Promise.reject(new Error('unused')),
    changeLog: () => Promise.resolve({ changes: [], more: false }),
    attachment: () => Promise.resolve(null),
    compare: () => Promise.resolve({ fresh: [], same: 0, different: [], forgotten: 0 }),
    replaced: () => Promise.resolve([]),
    wakings: () => Promise.resolve({ wakings: [], before: null }),
    changes: () => Promise.resolve([]),
    unread: () => Promise.resolve({ since: null, conversations: [], threads: new Map(), newest: '' }),
    noteExport: () => Promise.resolve(null),
    rebuild: () => Promise.resolve({ documents: 0, volumes: 0, repaired: 0, faults: [] }),
    search: () => Promise.resolve({ hits: [], more: false, state: { kind: 'ready' as const } }),
    takePageKey: () => Promise.resolve(null),
    reconnect: () => Promise.resolve(null),
    received: () => Promise.resolve({ stored: true }),
    signInChanged: () => Promise.resolve(null),
    ...aloneSyncAnswers(),
  };
  const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

  it('welcomes, answers, refuses with a reason, and tells everybody the news until they leave', async () => {
    const server = createRpcServer<typeof WORKER_METHODS, WorkerNews>({
      methods: WORKER_METHODS,
      onError: () => undefined,
      answers,
      welcome: () => welcome,
    });
    const [one, two]: [FromDataWorker[], FromDataWorker[]] = [[], []];
    const first = server.connect((message) => one.push(message));
    server.connect((message) => two.push(message));
    first.take({ call: 'wakeMaterial', id: '1', args: [{ agentIds: ['a'], cap: 10 }] });
    first.take({ call: 'append', id: '2', args: [[]] });
    first.take({ call: 'storage', id: '3', args: [] });
    first.take({ call: 'reconnect', id: '4', args: [] });
    first.take({ call: 'household', id: '5', args: [] });
    await settle();
    expect(one).toEqual([
      welcome,
      { reply: '1', ok: true, value: [] },
      { reply: '2', ok: false, error: { name: 'StorageProblemError', message: 'The disk is full.' } },
      { reply: '3', ok: true, value: status },
      { reply: '4', ok: true, value: null },
      {
        reply: '5',
        ok: true,
        value: {
          identities: [],
          changes: [],
          settings: [],
          records: [],
          queued: [],
          forgetting: [],
          forgotten: [],
          forgets: [],
          newest: '',
        },
      },
    ]);
    first.leave();
    server.notify({ news: 'problem', problem: null });
    expect(one).toHaveLength(6);
    expect(two).toEqual([welcome, { news: 'problem', problem: null }]);
  });

  it('refuses what is no call, and what does not fit one', async () => {
    const server = createRpcServer<typeof WORKER_METHODS, WorkerNews>({
      methods: WORKER_METHODS,
      onError: () => undefined,
      answers,
      welcome: () => welcome,
    });
    const heard: FromDataWorker[] = [];
    const line = server.connect((message) => heard.push(message));
    line.take('nonsense');
    line.take({ call: 'conversation', id: '1', args: [{ agentId: 'a', before: null, limit: 0 }] });
    line.take({ call: 'burn', id: '2', args: [] });
    await settle();
    expect(heard.slice(1)).toMatchObject([
      { reply: '1', ok: false, error: { name: 'ProtocolError' } },
      { reply: '2', ok: false, error: { name: 'ProtocolError' } },
    ]);
  });

  it('runs a repeated call once, and answers on the newest line', async () => {
    let asked = 0;
    let finish: () => void = () => undefined;
    const server = createRpcServer<typeof WORKER_METHODS, WorkerNews>({
      methods: WORKER_METHODS,
      onError: () => undefined,
      welcome: () => welcome,
      answers: {
        ...answers,
        append: () => {
          asked += 1;
          return new Promise((resolve) => {
            finish = () => resolve({ written: 1 });
          });
        },
      },
    });
    const [one, two]: [FromDataWorker[], FromDataWorker[]] = [[], []];
    server.connect((message) => one.push(message)).take({ call: 'append', id: '1', args: [[]] });
    server.connect((message) => two.push(message)).take({ call: 'append', id: '1', args: [[]] });
    finish();
    await settle();
    expect(asked).toBe(1);
    expect(one).toEqual([welcome]);
    expect(two).toEqual([welcome, { reply: '1', ok: true, value: { written: 1 } }]);
  });
});
