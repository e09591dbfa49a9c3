import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isDeepEqual } from '../../src/worker/ledger/equal.ts';
import { DEFAULT_SETTINGS, settingsOf } from '../../src/shared/domain/settings.ts';
import type { Doc, MessageDoc } from '../../src/shared/protocol/documents.ts';
import type { WakeContext } from '../../src/shared/protocol/worker.ts';
import {
  changeDoc,
  identityDoc,
  messageDoc,
  queuedDoc,
  readDoc,
  runStart,
  sessionEnd,
  sessionStart,
  settingDoc,
  stampOf,
} from '../support/documents.ts';
import {
  drained,
  dumpOf,
  openBench,
  ownerOf,
  volumesOf,
  type Household,
  type LedgerBench,
  type MortalHousehold,
} from '../support/ledger-harness.ts';
import { shared } from '../support/shared.ts';
import { longTests } from '../support/long-tests.ts';

const itLong = longTests('browser/ledger.test.ts');

let bench: LedgerBench;
let home: Household;
let tab: Page;

beforeAll(async () => {
  bench = await openBench();
  bench.relay.refuse(503);
});
afterAll(() => bench.close());

/** For tests that look at a whole household: each has a new one. */
function aloneInAHousehold() {
  beforeEach(async () => {
    home = await bench.household();
    tab = await home.tab();
  });
  afterEach(() => home.remove());
}

/** Ends the ids of a test's agents, messages, sessions and runs in the shared household. */
let mark = '';
const common = shared(
  async () => {
    const opened = await bench.household();
    return { opened, first: await opened.tab() };
  },
  ({ opened }) => opened.remove(),
);
let others = 0;
const beAnother = () => {
  mark = `~${++others}~`;
};
/**
 * For tests that look at conversations alone. They share a household, since a new one takes half a
 * second, and each has agents of its own in it.
 */
function amongOthers() {
  beforeEach(async () => {
    ({ opened: home, first: tab } = await common());
    beAnother();
  });
  afterEach(() => {
    mark = '';
  });
}

/** Fields that hold the id of an agent, a message, a session or a run, or end with one. */
const IDS = new Set(
  '_id agentId agentIds author before bornSessionId clientId messageId replaces runId sessionId'.split(' '),
);
const isOfEverybody = (id: string) => id === 'human' || id === 'relay';
function marked(value: unknown, isId = false): unknown {
  if (typeof value === 'string')
    // Behind the id itself, where an id of a document goes on: `run:r1:start`.
    return isId && !isOfEverybody(value) ? value.replace(/^[^:]+(?::[^:]+)?/, (id) => id + mark) : value;
  if (Array.isArray(value)) return value.map((each) => marked(each, isId));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, marked(each, IDS.has(key))]));
}
const unmarked = (value: unknown): unknown =>
  mark === '' || value === undefined ? value : JSON.parse(JSON.stringify(value).replaceAll(mark, ''));

/** What the shared household has of this test in a store of its database. */
const ownRows = async (store: string) =>
  unmarked(((await dumpOf(tab))[store] ?? []).filter((row) => JSON.stringify(row).includes(mark))) as unknown[];

type Call = ReturnType<typeof ownerOf>['call'];
/** Calls the owner with marked ids. The answer has them as the test wrote them. */
const ask = (async (name: string, ...args: readonly unknown[]) => {
  const call = ownerOf(tab).call as (name: string, ...args: unknown[]) => Promise<unknown>;
  return unmarked(await call(name, ...(mark === '' ? args : args.map((each) => marked(each)))));
}) as Call;

const append = (docs: readonly Doc[]) => ask('append', docs);
const page = (agentId: string, before: string | null = null, limit = 50) =>
  ask('conversation', { agentId, before, limit });
const idsOf = (docs: readonly MessageDoc[]) => docs.map(({ messageId }) => messageId);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
/** A new owner on what is on the disk. */
const restart = async () => {
  await home.closeTabs();
  tab = await home.tab();
};

describe('the household', () => {
  aloneInAHousehold();

  it('is empty in a new browser', async () => {
    expect(await ownerOf(tab).call('household')).toEqual({
      identities: [],
      changes: [],
      settings: [],
      records: [],
      queued: [],
      forgetting: [],
      forgotten: [],
      forgets: [],
      newest: '',
    });
    expect(await ownerOf(tab).call('storage')).toMatchObject({ documents: 0, journalRows: 0, volumes: [] });
  });

  it('is there after a reload, with current values and without earlier ones', async () => {
    await append([
      identityDoc(1, 'a1', 0),
      identityDoc(2, 'a2', 1),
      changeDoc(5, 'a1', { kind: 'rename', name: 'Later' }),
      changeDoc(3, 'a1', { kind: 'rename', name: 'Earlier' }),
      changeDoc(4, 'a2', { kind: 'rename', name: 'Other' }),
      changeDoc(6, 'a1', { kind: 'retire' }),
      changeDoc(7, 'a1', { kind: 'return' }),
      settingDoc(8, 'transcriptCap', 1_000),
      settingDoc(9, 'transcriptCap', 2_000),
      settingDoc(10, 'transcriptCap', 'from a newer app'),
    ]);
    await restart();
    const { identities, changes, settings } = await ownerOf(tab).call('household');
    expect(identities.map((doc) => doc.agentId).sort()).toEqual(['a1', 'a2']);
    expect(changes.map((doc) => doc.at.slice(16, 22)).sort()).toEqual(['000004', '000005', '000007']);
    expect(settingsOf(settings.map((doc) => ({ id: doc._id, key: doc.key, value: doc.value, at: doc.at })))).toEqual({
      ...DEFAULT_SETTINGS,
      transcriptCap: 2_000,
    });
  });

  it("lists the person's changes newest first, each with its earlier and present value", async () => {
    const limitsDoc = (n: number, usd: number): Doc => ({
      ...settingDoc(n, 'limits', null),
      _id: `limits:a1:${n}`,
      type: 'limits',
      recordId: 'agent:a1',
      agentId: 'a1',
      value: { agentId: 'a1', config: { coordination: { daily_budget_usd: usd } } },
    });
    await append([
      identityDoc(1, 'a1', 0),
      // How far one has read is no wish, an agent's soul is its own, and what a newer app set
      // cannot be told.
      settingDoc(2, 'read:a1', 'm1'),
      changeDoc(3, 'a1', { kind: 'soul', individuationArtifact: 'I am more.' }),
      settingDoc(4, 'humanName', 5),
      changeDoc(5, 'a1', { kind: 'rename', name: 'Later' }),
      limitsDoc(6, 2),
      settingDoc(8, 'transcriptCap', 2_000),
      settingDoc(7, 'transcriptCap', 1_000),
      limitsDoc(9, 5),
    ]);
    await restart();
    const log = async (limit: number) => {
      const { changes, more } = await ownerOf(tab).call('changeLog', { limit });
      const idOf = (doc: Doc | null) => doc?._id ?? null;
      return { more, lines: changes.map(({ doc, before, holds }) => [doc, before, holds].map(idOf)) };
    };
    const lines = [
      ['limits:a1:9', 'limits:a1:6', 'limits:a1:9'],
      ['setting:transcriptCap:8', 'setting:transcriptCap:7', 'setting:transcriptCap:8'],
      ['setting:transcriptCap:7', null, 'setting:transcriptCap:8'],
      ['limits:a1:6', null, 'limits:a1:9'],
      ['agent-change:a1:5', null, 'agent-change:a1:5'],
    ];
    expect(await log(5)).toEqual({ more: false, lines });
    expect(await log(2)).toEqual({ more: true, lines: lines.slice(0, 2) });
    await append([
      {
        ...settingDoc(10, 'forget', null),
        _id: 'forget:a1',
        type: 'forget',
        target: { kind: 'agent', agentId: 'a1' },
        askedAt: Date.now(),
        finalAt: Date.now() + 86_400_000,
      },
    ]);
    expect(await log(5)).toEqual({ more: false, lines: lines.slice(1, 3) });
  });

  it('lists queued messages until one with its clientId arrives, in either order', async () => {
    await append([queuedDoc(2, 'a1', 'second'), queuedDoc(1, 'a1', 'first'), queuedDoc(3, 'a1', 'third')]);
    await append([messageDoc(4, { clientId: 'second', role: 'user' })]);
    await append([messageDoc(5, { clientId: 'before its time', role: 'user' })]);
    await append([queuedDoc(6, 'a1', 'before its time')]);
    const { queued } = await ownerOf(tab).call('household');
    expect(queued.map((doc) => doc.clientId)).toEqual(['first', 'third']);
    const withdrawn = (clientId: string, of?: string): Doc => ({
      ...{ _id: `message-withdrawn:${clientId}${of ? '' : ':queued'}`, type: 'message-withdrawn', schema: 1 },
      ...{ at: settingDoc(20, 'x', 0).at, agentId: 'a1', clientId, time: 1, ...(of ? { of } : {}) },
    });
    // In either order, and of a conversation the one message alone.
    await append([withdrawn('third')]);
    await append([withdrawn('fourth')]);
    await append([queuedDoc(7, 'a1', 'fourth')]);
    const [eighth, ninth, tenth] = [8, 9, 10].map((n) => messageDoc(n, { clientId: `c${n}`, role: 'user' }));
    if (!eighth || !ninth || !tenth) throw new Error('three messages');
    await append([withdrawn('c8', eighth.at)]);
    await append([eighth, ninth, tenth]);
    await append([withdrawn('c9', ninth.at)]);
    expect((await ownerOf(tab).call('household')).queued.map((doc) => doc.clientId)).toEqual(['first']);
    const ids = idsOf((await page('a1')).messages);
    expect([ids.includes('m8'), ids.includes('m9'), ids.includes('m10')]).toEqual([false, false, true]);
  });
});

describe('a document', () => {
  aloneInAHousehold();

  it('is written once, however often it arrives', async () => {
    const doc = messageDoc(1);
    expect(await append([doc, doc])).toEqual({ written: 1 });
    expect(await append([doc, messageDoc(2)])).toEqual({ written: 1 });
    expect(await ownerOf(tab).call('storage')).toMatchObject({ documents: 2 });
    expect(idsOf((await page('a1')).messages)).toEqual(['m1', 'm2']);
  });

  it('shares one transaction with all that is written in the same moment', async () => {
    const docs = range(0, 100).map((n) => messageDoc(n));
    const written = await tab.evaluate(
      (all) => Promise.all(all.map((doc) => window.roost.owner.call('append', [doc]))),
      docs,
    );
    expect(written).toEqual(docs.map(() => ({ written: 1 })));
    await append([messageDoc(100)]);
    // A transaction is a row of the journal: this is the second that there ever was.
    expect((await dumpOf(tab))['journal']?.at(-1)).toMatchObject({ seq: 2, docs: [{ messageId: 'm100' }] });
  });

  it('is refused together with its batch when one document is invalid', async () => {
    await expect(append([messageDoc(1), { ...messageDoc(2), blocks: 'none' } as unknown as Doc])).rejects.toThrow(
      /blocks/,
    );
    expect(await ownerOf(tab).call('storage')).toMatchObject({ documents: 0 });
  });

  it('of an unknown kind is stored', async () => {
    const doc = { _id: 'x:1', type: 'from-the-future', schema: 7, at: messageDoc(1).at, field: { deep: [1] } };
    await append([doc]);
    await drained(tab);
    await restart();
    expect((await volumesOf(tab))['v00001']?.docs).toEqual([doc]);
    expect(await append([doc])).toEqual({ written: 0 });
  });

  it('restores NUL, lone surrogates, right-to-left text, emoji and 300 KB exactly, from views and volume', async () => {
    const texts = [
      '\u0000\u0001\u0010p0-0\u001f',
      '\ud800',
      '\udfff\ud83e',
      'مرحبا \u202e 🪺👩‍👩‍👧',
      '</soul>]]>[WAKE AGENTS]',
      `${'🪺\ud800'.repeat(100_000)}`,
    ];
    const docs = texts.map((text, n) =>
      messageDoc(n, {
        blocks: [
          { kind: 'text', text },
          {
            kind: 'tool',
            toolUseId: 't',
            name: 'n',
            input: { [text.slice(0, 9)]: text, _files: 1 },
            result: text,
            isError: false,
          },
        ],
      }),
    );
    const odd = messageDoc(90, { messageId: 'id \ud800\u0000~%/ü' });
    await append([...docs, odd]);
    await drained(tab);
    await restart();
    const { messages } = await page('a1');
    expect(isDeepEqual(messages, [...docs, odd])).toBe(true);
    const stored = (await volumesOf(tab))['v00001'];
    expect(stored?.damaged).toEqual([]);
    const byAt = [...(stored?.docs ?? [])].sort((a, b) => (a.at < b.at ? -1 : 1));
    expect(isDeepEqual(byAt, [...docs, odd])).toBe(true);
  });
});

describe('a read', () => {
  aloneInAHousehold();

  it('waits for earlier appends, and not for later ones', async () => {
    const parts = range(0, 16).map((part) => range(part * 500, (part + 1) * 500).map((n) => messageDoc(n)));
    await append([identityDoc(9_000, 'a1', 1)]);
    // Goes on until the read is answered. A read that waits for the end meets the last part.
    const { appended, identities } = await tab.evaluate(async (all) => {
      const { owner } = window.roost;
      const read: number[] = [];
      let appended = 0;
      let reading: Promise<unknown> | null = null;
      for (const docs of all) {
        if (read.length > 0) break;
        await owner.call('append', docs);
        appended += 1;
        reading ??= owner.call('household').then((household) => read.push(household.identities.length));
      }
      await reading;
      return { appended, identities: read };
    }, parts);
    expect(identities).toEqual([1]);
    expect(appended).toBeLessThan(parts.length);
  });
});

describe('a conversation', () => {
  amongOthers();

  it('is read in pages from its newest end, each message once, with its sessions', async () => {
    await append([
      sessionStart(0, 's1'),
      ...range(0, 30).map((n) => messageDoc(n)),
      sessionEnd(30, 's1'),
      sessionStart(31, 's2'),
    ]);
    await append([...range(31, 61).map((n) => messageDoc(n, { sessionId: 's2' })), messageDoc(99, { agentId: 'a2' })]);
    const pages = [];
    let before: string | null = null;
    do {
      const one: Awaited<ReturnType<typeof page>> = await page('a1', before, 25);
      pages.push(one);
      before = one.before;
    } while (before !== null);
    expect(pages.map(({ messages }) => messages.length)).toEqual([25, 25, 10]);
    expect(pages.toReversed().flatMap(({ messages }) => idsOf(messages))).toEqual(
      [...range(0, 30), ...range(31, 61)].map((n) => `m${n}`),
    );
    expect(pages.map(({ sessions }) => sessions.map(({ _id }) => _id))).toEqual([
      ['session:s2:start'],
      ['session:s1:start', 'session:s1:end', 'session:s2:start'],
      ['session:s1:start', 'session:s1:end'],
    ]);
  });

  it('is ordered by its stamps, however it arrived', async () => {
    for (const n of [5, 1, 4, 2, 3]) await append([messageDoc(n)]);
    expect(idsOf((await page('a1')).messages)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  });

  it('names the messages that waited and were read', async () => {
    await append([
      messageDoc(0, { waiting: true }),
      messageDoc(2, { waiting: true }),
      messageDoc(4),
      readDoc(5, 'm0'),
      readDoc(6, 'm4'),
    ]);
    expect((await page('a1')).read).toEqual(['m0']);
  });

  it('tells when its agent was awake, newest first and page by page, without what only waited', async () => {
    const run = { sessionId: null, runId: 'r1' };
    await append([
      ...range(0, 4).map((n) => messageDoc(n)),
      messageDoc(5, { ...run, author: 'relay', role: 'user' }),
      messageDoc(7, run),
      runStart(4, 'r1', 'a1'),
      ...range(10, 30).map((n) => messageDoc(n, { sessionId: 's2' })),
      messageDoc(31, { agentId: 'a2', sessionId: 's2' }),
      messageDoc(32, { sessionId: 's2', waiting: true }),
      messageDoc(34, { sessionId: 's3', waiting: true }),
    ]);
    const wakings = (more: object = {}) =>
      ask('wakings', { agentId: 'a1', before: null, upTo: null, limit: 2, ...more });
    const first = await wakings();
    expect(first.wakings).toMatchObject([
      { id: 's2', run: null, messageId: 'm10', messages: 21, words: { author: 'human', text: 'words of m10' } },
      { id: 'r1', run: [{ _id: 'run:r1:start' }], messageId: 'm5', messages: 2, words: { text: 'words of m7' } },
    ]);
    const { before } = first;
    expect(await wakings({ before })).toMatchObject({
      wakings: [{ id: 's1', messageId: 'm0', messages: 4 }],
      before: null,
    });
    const [, { until = 0 } = {}] = first.wakings;
    expect((await wakings({ upTo: until + 1 })).wakings.map(({ id }) => id)).toEqual(['r1', 's1']);
    expect((await wakings({ agentId: 'nobody' })).wakings).toEqual([]);
  });

  it('is empty for an unknown agent', async () => {
    expect(await page('nobody')).toEqual({ messages: [], sessions: [], runs: [], read: [], before: null });
  });
});

describe('what is stored of an agent', () => {
  aloneInAHousehold();

  it('is all that was written about an agent, with current values for the household', async () => {
    const soul = (n: number, text: string) => changeDoc(n, 'a1', { kind: 'soul', individuationArtifact: text });
    await append([
      identityDoc(0, 'a1', 0),
      soul(3, 'third'),
      soul(2, 'second'),
      changeDoc(4, 'a2', { kind: 'retire' }),
    ]);
    const changes = await ownerOf(tab).call('changes', { agentId: 'a1' });
    expect(changes.map(({ change }) => change.kind === 'soul' && change.individuationArtifact)).toEqual([
      'second',
      'third',
    ]);
    // Its look goes with it; the look of others and its model do not.
    const looks = [settingDoc(5, 'color:a1', '#4fb286'), settingDoc(6, 'color:a2', ''), settingDoc(7, 'model:a1', 'm')];
    await append(looks);
    const own = await ownerOf(tab).call('documents', { after: null, limit: 50, agentId: 'a1' });
    expect(own.docs.filter(({ type }) => type === 'setting').map(({ _id }) => _id)).toEqual([looks[0]?._id]);
  });
});

describe('what is new', () => {
  aloneInAHousehold();

  const unreadOf = async () => (await ownerOf(tab).call('unread')).conversations;
  const readUpTo = (n: number) => settingDoc(500, 'read:a1', stampOf(n));

  it('counts an answer that continued after the person had read the messages during it', async () => {
    const letters = range(10, 150).map((n) => messageDoc(n, { role: 'assistant', author: 'a1' }));
    await append([
      messageDoc(1, { role: 'assistant', author: 'a1', completedAt: stampOf(3) }),
      messageDoc(5, { role: 'assistant', author: 'a1', completedAt: stampOf(200) }),
      ...letters,
      settingDoc(2, 'read-since', stampOf(0)),
      readUpTo(149),
    ]);
    expect(await unreadOf()).toEqual([{ agentId: 'a1', upTo: stampOf(149), unread: 1, newest: stampOf(200) }]);
  });
});

const edit = (n: number, replaces: string, more: Partial<MessageDoc> = {}) =>
  messageDoc(n, { role: 'user', author: 'human', replaces, ...more });
const story = [
  messageDoc(0),
  messageDoc(1),
  messageDoc(2),
  messageDoc(3),
  edit(4, 'm2'),
  messageDoc(5),
  edit(6, 'm4'),
  messageDoc(7),
  messageDoc(8),
];

describe('edit and resend', () => {
  amongOthers();

  it('hides the replaced message and everything after it, up to the new one', async () => {
    await append(story);
    expect(idsOf((await page('a1')).messages)).toEqual(['m0', 'm1', 'm6', 'm7', 'm8']);
    // It stays, and is read where it stood: what an edit of an edit took the place of, whole.
    const replaced = (messageId: string, more: object = {}) =>
      ask('replaced', { agentId: 'a1', messageId, limit: 100, ...more });
    expect(idsOf(await replaced('m6'))).toEqual(['m2', 'm3', 'm4', 'm5']);
    expect(idsOf(await replaced('m4'))).toEqual(['m2', 'm3']);
    expect(idsOf(await replaced('m6', { limit: 2 }))).toEqual(['m2', 'm3']);
    expect(idsOf(await replaced('m7'))).toEqual([]);
    expect(idsOf(await replaced('m6', { agentId: 'a2' }))).toEqual([]);
  });

  it('leaves other conversations alone', async () => {
    await append([messageDoc(2), messageDoc(3, { agentId: 'a2' }), edit(4, 'm2')]);
    expect(idsOf((await page('a2')).messages)).toEqual(['m3']);
  });

  it('gives the same result and the same counts in every order', async () => {
    const orders = [
      story,
      story.toReversed(),
      [4, 6, 0, 2, 8, 1, 3, 5, 7].map((n) => story[n] ?? messageDoc(n)),
      [6, 5, 4, 3, 2, 1, 0, 7, 8].map((n) => story[n] ?? messageDoc(n)),
    ];
    const outcomes: unknown[] = [];
    for (const order of orders) {
      beAnother();
      for (const doc of order) await append([doc]);
      await ask('household');
      const own = await Promise.all(['messages', 'talks', 'totals', 'replacements'].map(ownRows));
      expect(own.map(({ length }) => length > 0)).toEqual([true, true, true, true]);
      outcomes.push(own);
    }
    expect(outcomes).toEqual(orders.map(() => outcomes[0]));
  });

  it('takes back all messages of anybody to an agent in a session', async () => {
    await append([
      messageDoc(0, { sessionId: 'old' }),
      messageDoc(1, { sessionId: 'old' }),
      messageDoc(10),
      messageDoc(11),
      edit(12, 'm10', { author: 'a1', role: 'assistant' }),
    ]);
    const [material] = await ask('wakeMaterial', { agentIds: ['a1'], cap: 1_000 });
    expect(material?.sessions).toMatchObject([
      { kind: 'talk', sessionId: 'old' },
      { kind: 'greetings', times: 1 },
    ]);
    expect(material?.earlier).toBe(0);
  });
});

describe('what an agent takes along', () => {
  amongOthers();

  const material = async (agentId: string, cap = 24_000) => {
    const [taken] = await ask('wakeMaterial', { agentIds: [agentId], cap });
    if (!taken) throw new Error('An agent that was asked for is answered for.');
    return taken;
  };
  /** [session, ids] of each conversation, how often of each run of greetings. */
  const told = ({ sessions }: WakeContext) =>
    sessions.map((session) => (session.kind === 'talk' ? [session.sessionId, idsOf(session.messages)] : session.times));
  /** `count` sessions from stamp `n` on in which the agent greets, and nothing more. */
  const idle = (n: number, count: number) =>
    range(n, n + count).map((at) => messageDoc(at, { sessionId: `idle${at}`, author: 'a1', role: 'assistant' }));
  const long = (n: number, more: Partial<MessageDoc> = {}) =>
    messageDoc(n, { blocks: [{ kind: 'text', text: 'x'.repeat(100) }], ...more });

  it('is the last session with messages to the agent, and earlier ones, however often it woke since', async () => {
    await append([
      ...range(0, 2).map((n) => messageDoc(n, { sessionId: 'first' })),
      ...idle(10, 3),
      ...range(20, 24).map((n) => messageDoc(n, { sessionId: 'second' })),
      ...idle(30, 10),
      messageDoc(50, { sessionId: 'other', agentId: 'a2' }),
    ]);
    const taken = await material('a1');
    expect(told(taken)).toEqual([['first', ['m0', 'm1']], 3, ['second', ['m20', 'm21', 'm22', 'm23']], 10]);
    expect(taken.sessions.at(-1)).toMatchObject({ kind: 'greetings', more: false, last: { messageId: 'm39' } });
    expect(taken.earlier).toBe(0);
  });

  it('is read newest first until the room is full, with the number of those left out', async () => {
    await append(range(0, 300).map((n) => long(n, { sessionId: `s${Math.floor(n / 100)}` })));
    const taken = await material('a1', 10_000);
    const [talk] = taken.sessions;
    if (talk?.kind !== 'talk' || taken.sessions.length !== 1) throw new Error('one conversation fills it');
    expect(talk.messages.at(-1)?.messageId).toBe('m299');
    expect(talk.messages.length).toBeGreaterThan(75);
    expect(talk.messages.length + talk.earlier).toBe(100);
    expect(taken.earlier).toBe(200);
  });

  it('has the last conversation whole, also when the agent has worked alone a lot since', async () => {
    const deed = (n: number) =>
      long(n, {
        sessionId: 'run',
        author: 'a1',
        role: 'assistant',
        blocks: [
          {
            kind: 'tool',
            toolUseId: 't',
            name: 'message_agent',
            input: { to: 'a2', message: 'x'.repeat(3_000) },
            result: 'Delivered.',
            isError: false,
          },
        ],
      });
    await append([
      ...range(0, 30).map((n) => long(n, { sessionId: 'talk' })),
      ...idle(40, 2),
      ...range(50, 60).map(deed),
      ...idle(70, 2),
    ]);
    const { sessions } = await material('a1', 8_000);
    const talk = sessions.find((session) => session.kind === 'talk' && session.sessionId === 'talk');
    expect(talk).toMatchObject({ addressed: true, earlier: 0, messages: expect.objectContaining({ length: 30 }) });
    expect(sessions.find((session) => session.kind === 'talk' && session.sessionId === 'run')).toMatchObject({
      addressed: false,
    });
  });

  it('has nothing of messages outside sessions, neither as a conversation nor among those left out', async () => {
    const alone = (n: number, more: Partial<MessageDoc> = {}) =>
      messageDoc(n, { sessionId: null, runId: `r${Math.floor(n / 10)}`, ...more });
    const docs: readonly Doc[] = [
      ...range(0, 4).map((n) => messageDoc(n)),
      messageDoc(4, { waiting: true, author: 'a2', role: 'user' }),
      ...idle(10, 1),
      // What set it to work, said to it by others, and what it said and did; what waited is read
      // then.
      alone(20, { author: 'relay' }),
      alone(21),
      alone(22, { author: 'a2' }),
      ...range(23, 60).map((n) => long(n, { sessionId: null, runId: 'r3' })),
      { ...readDoc(61, 'm4'), sessionId: null, runId: 'r3' },
    ];
    const without = docs.filter((doc) => !('sessionId' in doc) || doc['sessionId'] !== null);
    await append(without);
    const before = { taken: await material('a1'), talks: await ownRows('talks') };
    expect(told(before.taken)).toEqual([['s1', ['m0', 'm1', 'm2', 'm3']], 1]);
    await append(docs.filter((doc) => !without.includes(doc)));
    expect(await material('a1')).toEqual(before.taken);
    // By which other devices tell whether they have all of the last conversation.
    expect(await ownRows('talks')).toEqual(before.talks);
    // An agent that was only ever at work alone was in no conversation.
    await append([alone(70, { agentId: 'a9' }), alone(71, { agentId: 'a9', author: 'a9' })]);
    expect((await material('a9')).sessions).toEqual([]);
  });

  it('has the conversation behind many sessions of small tasks, each listed too', async () => {
    const deed = { kind: 'tool', toolUseId: 't', name: 'search', input: {}, result: 'Found.', isError: false } as const;
    await append([
      ...range(0, 4).map((n) => messageDoc(n, { sessionId: 'talk' })),
      ...range(10, 60).map((n) =>
        messageDoc(n, { sessionId: `run${n}`, author: 'a1', role: 'assistant', blocks: [deed] }),
      ),
    ]);
    const all = ['talk', ...range(10, 60).map((n) => `run${n}`)];
    expect(told(await material('a1')).map((one) => (Array.isArray(one) ? one[0] : one))).toEqual(all);
    // Where it fills the room itself, it stands behind what is newest, and nothing else is read.
    const [small] = told(await material('a1', 40));
    expect(small).toEqual(['talk', expect.arrayContaining(['m3'])]);
  });

  it('counts no message of half the room twice, so that earlier messages fit', async () => {
    await append([
      ...range(0, 20).map((n) => long(n)),
      messageDoc(20, { blocks: [{ kind: 'text', text: 'y'.repeat(500_000) }] }),
    ]);
    expect(told(await material('a1', 10_000))).toEqual([['s1', range(0, 21).map((n) => `m${n}`)]]);
  });

  it('is a whole conversation in which many messages are too long to be quoted whole', async () => {
    await append(
      range(0, 20).map((n) =>
        messageDoc(n, { blocks: [{ kind: 'text', text: n % 2 ? 'y'.repeat(60_000) : 'A fact.' }] }),
      ),
    );
    expect(told(await material('a1', 10_000))).toEqual([['s1', range(0, 20).map((n) => `m${n}`)]]);
  });

  it('quotes the last greeting that has words, also where the agent was cut off before the first word since', async () => {
    const cutOff = (n: number) =>
      messageDoc(n, { sessionId: `idle${n}`, author: 'a1', role: 'assistant', status: 'interrupted', blocks: [] });
    await append([
      ...range(0, 2).map((n) => messageDoc(n, { sessionId: 'talk' })),
      ...idle(10, 2),
      ...range(20, 23).map(cutOff),
    ]);
    expect((await material('a1')).sessions.at(-1)).toMatchObject({
      kind: 'greetings',
      times: 5,
      last: { messageId: 'm11' },
    });
  });

  it('passes over a thousand greetings without reading each', async () => {
    await append([...range(0, 2).map((n) => messageDoc(n, { sessionId: 'talk' })), ...idle(100, 1_000)]);
    const taken = await material('a1');
    expect(told(taken)[0]).toEqual(['talk', ['m0', 'm1']]);
    expect(taken.sessions[1]).toMatchObject({ kind: 'greetings', more: true, times: 64 });
  });

  it('leaves unread messages in the inbox, and quotes read ones where they were read', async () => {
    await append([
      ...range(0, 2).map((n) => messageDoc(n, { sessionId: 'one' })),
      messageDoc(10, { sessionId: 'asleep', waiting: true }),
      messageDoc(12, { sessionId: 'asleep', waiting: true }),
      messageDoc(21, { sessionId: 'two' }),
      { ...readDoc(22, 'm10'), sessionId: 'two' },
      messageDoc(23, { sessionId: 'two' }),
      ...idle(31, 1),
    ]);
    expect(told(await material('a1'))).toEqual([['one', ['m0', 'm1']], ['two', ['m21', 'm10', 'm23']], 1]);
    expect((await material('a1')).earlier).toBe(0);
  });

  it('is nothing for an agent that was never in a session, without the words of its birth', async () => {
    await append([messageDoc(2, { waiting: true })]);
    expect(await material('a1')).toEqual({ agentId: 'a1', sessions: [], earlier: 0 });
    await append([identityDoc(3, 'a1', 0), messageDoc(5)]);
    expect(await material('a1')).toEqual({ agentId: 'a1', sessions: [], earlier: 0 });
  });
});

describe('volumes', () => {
  aloneInAHousehold();

  itLong('take everything over from the journal, each document once', async () => {
    const docs = range(0, 130).map((n) => messageDoc(n));
    for (let n = 0; n < docs.length; n += 13) await append(docs.slice(n, n + 13));
    await drained(tab);
    await home.closeTabs();
    tab = await home.tab('?closed');
    const stored = (await volumesOf(tab))['v00001']?.docs ?? [];
    expect(stored.map(({ _id }) => _id).sort()).toEqual(docs.map(({ _id }) => _id).sort());
    expect((await dumpOf(tab))['journal']).toEqual([]);
  });

  it('are sealed at 2,000 documents, compacted and checked, and followed by the next', async () => {
    const docs = range(0, 2_250).map((n) => messageDoc(n));
    for (let n = 0; n < docs.length; n += 250) await append(docs.slice(n, n + 250));
    await drained(tab);
    const { volumes } = await ownerOf(tab).call('storage');
    expect(volumes).toEqual([
      { name: 'v00001', documents: 2_000, state: 'sealed', checkedAt: expect.any(Number), faults: [] },
      { name: 'v00002', documents: 250, state: 'writing', checkedAt: null, faults: [] },
    ]);
    await restart();
    await home.closeTabs();
    tab = await home.tab('?closed');
    const stored = await volumesOf(tab);
    const all = Object.values(stored).flatMap((volume) => volume.docs);
    expect(all).toHaveLength(2_250);
    expect(new Set(all.map(({ _id }) => _id)).size).toBe(2_250);
  });

  itLong(
    'that open empty against what is known of them are not written again; what they held is filed anew, and the page is told',
    async () => {
      await append([messageDoc(1)]);
      await drained(tab);
      await home.closeTabs();
      tab = await home.tab('?closed');
      await tab.evaluate(() => window.roost.emptyVolume('v00001'));
      tab = await home.tab();
      await append([messageDoc(2)]);
      await tab.waitForFunction(() =>
        window.roost.news.some((item) => item.news === 'problem' && item.problem?.kind === 'damaged'),
      );
      expect(idsOf((await page('a1')).messages)).toEqual(['m1', 'm2']);
      expect(await append([messageDoc(3)])).toEqual({ written: 1 });
      await drained(tab);
      const { volumes } = await ownerOf(tab).call('storage');
      expect(volumes).toMatchObject([
        { name: 'v00001', state: 'damaged', faults: [expect.stringMatching(/documents are missing/)] },
        { name: 'v00002', state: 'writing', documents: 3 },
      ]);
      await home.closeTabs();
      tab = await home.tab('?closed');
      const stored = await volumesOf(tab);
      expect(stored['v00001']?.docs).toEqual([]);
      expect(stored['v00002']?.docs.map(({ _id }) => _id).sort()).toEqual(['message:m1', 'message:m2', 'message:m3']);
    },
  );
});

describe('the page', () => {
  aloneInAHousehold();

  it('contains nothing of Fireproof, which is in the worker alone', async () => {
    const loaded = await tab.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
    );
    expect(loaded.filter((path) => path.endsWith('.js'))).toEqual([expect.stringMatching(/^\/assets\/index-/)]);
  });

  it('asks the browser to keep its storage', async () => {
    expect(await tab.evaluate(() => window.roost.askPersistence())).toBeTypeOf('boolean');
    expect((await ownerOf(tab).call('storage')).usedBytes).toBeTypeOf('number');
  });
});

describe('after the browser has crashed', () => {
  let mortal: MortalHousehold;
  beforeEach(async () => {
    mortal = await bench.mortalHousehold();
    tab = await mortal.tab();
  });
  afterEach(() => mortal.remove());

  it('the volumes and the journal give back views that equal the live ones', async () => {
    await append([
      identityDoc(1, 'a1', 0, 'x'.repeat(300_000)),
      changeDoc(2, 'a1', { kind: 'rename', name: 'N' }),
      changeDoc(3, 'a1', { kind: 'rename', name: 'M' }),
      settingDoc(4, 'transcriptCap', 5),
      queuedDoc(5, 'a1', 'taken'),
      queuedDoc(6, 'a1', 'open'),
      { _id: 'x', type: 'new', schema: 1, at: messageDoc(7).at },
      sessionStart(8, 's1'),
      ...range(10, 60).map((n) => messageDoc(n)),
      messageDoc(61, { replaces: 'm58', role: 'user', clientId: 'taken' }),
      readDoc(62, 'm20'),
    ]);
    await drained(tab);
    // These are still in the journal when the owner ends.
    await append([messageDoc(63), messageDoc(64, { replaces: 'm61' })]);
    await ownerOf(tab).call('household');
    await mortal.kill();
    tab = await mortal.tab('?closed');
    const live = await dumpOf(tab);
    await tab.evaluate(() => window.roost.disownViews());
    tab = await mortal.tab();
    await ownerOf(tab).call('household');
    const rebuilt = await dumpOf(tab);
    for (const name of [
      'identities',
      'changes',
      'settings',
      'sessions',
      'messages',
      'talks',
      'totals',
      'replacements',
      'queued',
      'reads',
      'forgets',
      'records',
      'kinds',
      'state',
    ])
      expect(rebuilt[name], name).toEqual(live[name]);
  });

  it('refuses a write when the disk is full, says so, and continues when there is room', async () => {
    await append([messageDoc(1)]);
    await drained(tab);
    // Chromium remembers for a while how much room there was; a new one asks again.
    await mortal.kill();
    const keeper = await mortal.tab('?closed');
    const session = await mortal.context().newCDPSession(keeper);
    await session.send('Storage.overrideQuotaForOrigin', { origin: bench.url, quotaSize: 1_000 });
    tab = await mortal.tab();
    await expect(append([messageDoc(2)])).rejects.toThrow(/no space left/);
    await tab.waitForFunction(() =>
      window.roost.news.some((item) => item.news === 'problem' && item.problem?.kind === 'quota'),
    );
    expect(idsOf((await page('a1')).messages)).toEqual(['m1']);
    await session.send('Storage.overrideQuotaForOrigin', { origin: bench.url });
    expect(await append([messageDoc(2)])).toEqual({ written: 1 });
    await tab.waitForFunction(() => window.roost.news.some((item) => item.news === 'problem' && item.problem === null));
    expect(idsOf((await page('a1')).messages)).toEqual(['m1', 'm2']);
  });
});
