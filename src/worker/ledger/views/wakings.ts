/**
 * Finds when an agent was awake and talked, without reading what lies between: the first and the
 * newest message of each session or run are found by key. Also reads the context that an agent gets
 * when it wakes.
 */
import { byAge } from '../../../shared/protocol/documents/kind.ts';
import type { SessionEnd } from '../../../shared/domain/lifecycle.ts';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import { inOneLine, talkText } from '../../../shared/domain/talk.ts';
import { LONG_SHARE } from '../../../shared/domain/transcript.ts';
import type { AgentChangeDoc, MessageDoc, RunDoc } from '../../../shared/protocol/documents.ts';
import type { WorkerCalls, WakeContext, WakeSession, Waking, WakingsPage } from '../../../shared/protocol/worker.ts';
import { formatStamp } from '../../../shared/domain/stamp.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { LEDGER } from '../settings.ts';
import type { MessageRecord, TalkRecord, ViewsDatabase } from './database.ts';
import { isWaiting } from './write.ts';
import { AFTER_ALL, beginning, docsOf, hiddenBefore, newestFirst, RUN_PHASES } from './read.ts';

// The context that agents get when they wake, from the views alone. Sessions are read newest first,
// and only as many as fill the space. So the cost does not grow with the years.

/** Sorts after every stamp and id. */
const AFTER_EVERYTHING = '\uffff';
/** The least characters that the head of a message takes. */
const HEAD_CHARS = 24;

const open = (db: ViewsDatabase) =>
  db.transaction(['talks', 'totals', 'messages', 'reads', 'forgets', 'identities', 'sessions']);
type Reading = ReturnType<typeof open>;
interface Request {
  readonly agentId: AgentId;
  readonly cap: number;
  /** Everything with a stamp before this is hidden. '' where nothing is. */
  readonly hidden: string;
  /** The sessions in which the agent was born. */
  readonly births: ReadonlySet<string | null>;
}

/** The newest messages of one session until `room` is full, and their size. */
async function readTalk(
  tx: Reading,
  talk: TalkRecord,
  room: number,
  { agentId, cap, hidden }: Request,
): Promise<{ readonly session: WakeSession; readonly chars: number }> {
  const { sessionId } = talk;
  const messages = tx.objectStore('messages');
  const end = [sessionId, agentId, hidden === '' ? AFTER_EVERYTHING : newestFirst(hidden)];
  const reads = await tx
    .objectStore('reads')
    .index('talk')
    .getAll(IDBKeyRange.bound([sessionId, agentId], end));
  const waited = await Promise.all(
    reads.map(async ({ doc }) => ({ at: doc.at, message: (await messages.get(`message:${doc.messageId}`))?.doc })),
  );
  // A message that waited stands where it was read, among that session's messages.
  const arrived = waited.flatMap(({ at, message }) =>
    message && message.at >= hidden ? [{ ...message, at, waiting: false }] : [],
  );
  const taken: MessageDoc[] = [];
  let chars = 0;
  // A message that is too long is cut as far as the others need the space.
  const take = (doc: MessageDoc) => {
    const { length } = talkText(doc);
    taken.push(doc);
    if (length > 0) chars += HEAD_CHARS + (length > cap * LONG_SHARE.most ? cap * LONG_SHARE.least : length);
  };
  let from: readonly string[] = [sessionId, agentId];
  for (
    let more = true, stride: number = LEDGER.wakeMessages.first;
    more && chars <= room;
    stride = Math.min(2 * stride, LEDGER.wakeMessages.most)
  ) {
    const some = await messages.index('talk').getAll(IDBKeyRange.bound(from, end, true), stride);
    for (const { doc } of some) {
      if (chars > room) break;
      while (arrived.length > 0 && (arrived.at(0)?.at ?? '') > doc.at) arrived.splice(0, 1).forEach(take);
      if (!isWaiting(doc)) take(doc);
    }
    from = some.at(-1)?.talk ?? from;
    more = some.length === stride;
  }
  if (chars <= room) arrived.forEach(take);
  // Messages to be forgotten are in the session's count, and must not be mentioned.
  const earlier = hidden === '' ? Math.max(0, talk.said - taken.length) : 0;
  return {
    session: { kind: 'talk', sessionId, addressed: talk.addressed !== undefined, messages: taken.sort(byAge), earlier },
    chars,
  };
}

/** The session's greeting, if there is one. */
async function readGreeting(tx: Reading, { sessionId, agentId }: TalkRecord): Promise<MessageDoc | null> {
  const newest = await tx
    .objectStore('messages')
    .index('talk')
    .getAll(IDBKeyRange.bound([sessionId, agentId], [sessionId, agentId, AFTER_EVERYTHING]), LEDGER.greetingSearch);
  return (
    newest.find(
      ({ doc }) =>
        doc.author === agentId && doc.blocks.some((block) => block.kind === 'text' && block.text.trim() !== ''),
    )?.doc ?? null
  );
}

type MaterialPlace = readonly [string, string?];

/**
 * The greeting-only sessions between two places (newest first, both exclusive), counted by their
 * keys alone.
 */
async function readGreetings(
  tx: Reading,
  from: MaterialPlace,
  end: MaterialPlace,
  withWords: boolean,
  births: Request['births'],
): Promise<WakeSession | null> {
  const talks = tx.objectStore('talks');
  const range = IDBKeyRange.bound(from, end, true, true);
  const keys = await talks.index('quiet').getAllKeys(range, LEDGER.wakeGreetings + 1);
  const more = keys.length > LEDGER.wakeGreetings;
  // The soul already covers the birth.
  const counted = keys.slice(0, LEDGER.wakeGreetings).filter(([, sessionId]) => !births.has(sessionId));
  const read = (key: [string, string] | undefined) => Promise.resolve(key && talks.get(key));
  const [newest, oldest] = await Promise.all([read(counted.at(0)), read(counted.at(-1))]);
  if (!newest || !oldest) return null;
  // The last greeting with words: an agent that was cut off said nothing.
  let last: MessageDoc | null = null;
  for (let n = 0; withWords && last === null && n < counted.length; n++) {
    const [agentId, sessionId] = counted[n] ?? newest.place ?? ['', ''];
    last = await readGreeting(tx, { ...newest, agentId, sessionId });
  }
  return { kind: 'greetings', times: counted.length, more, from: oldest.time, until: newest.time, last };
}

async function readEnd(tx: Reading, sessionId: SessionId): Promise<SessionEnd | null> {
  const docs = await tx.objectStore('sessions').index('sessionId').getAll(sessionId);
  const [end = null] = docs.flatMap(({ doc }) => (doc.phase.kind === 'end' ? [doc.phase] : []));
  return end && { endedAt: end.endedAt, reason: end.reason };
}

async function materialOf(tx: Reading, request: Request): Promise<WakeContext> {
  const { agentId, cap, hidden, births } = request;
  const talks = tx.objectStore('talks');
  const end = [agentId, hidden === '' ? AFTER_EVERYTHING : newestFirst(hidden)] as const;
  const fullAfter = (from: MaterialPlace, limit: number) =>
    talks.index('full').getAll(IDBKeyRange.bound(from, end, true), limit);

  const { first, most } = LEDGER.wakeSessions;
  const [[primary], total, newest] = await Promise.all([
    talks.index('addressed').getAll(IDBKeyRange.bound([agentId], end), 1),
    tx.objectStore('totals').get(agentId),
    fullAfter([agentId], first),
  ]);

  // Newest first, in the order of reading.
  const sessions: WakeSession[] = [];
  let room = cap;
  let read = 0;
  const take = async (talk: TalkRecord) => {
    const one = await readTalk(tx, talk, room, request);
    room -= one.chars;
    read += talk.said;
    return one.session;
  };
  const last = primary ? await take(primary) : null;
  /** The greetings between the last session taken and this place. */
  const greet = async (from: MaterialPlace, until: MaterialPlace) => {
    const greetings = await readGreetings(tx, from, until, sessions.length === 0, births);
    if (greetings) sessions.push(greetings);
  };

  let passed = last === null;
  let from: MaterialPlace = [agentId];
  let some = newest;
  for (let stride: number = first; some.length > 0;) {
    for (const talk of some) {
      if (!talk.full || (room <= 0 && sessions.length > 0)) break;
      await greet(from, talk.full);
      from = talk.full;
      if (last && talk.sessionId === primary?.sessionId) {
        sessions.push(last);
        passed = true;
      } else if (room > 0) sessions.push(await take(talk));
    }
    if (room <= 0 || some.length < stride) break;
    stride = Math.min(2 * stride, most);
    some = await fullAfter(from, stride);
  }
  if (room > 0) await greet(from, end);
  // Newer sessions have taken the space that this one needs.
  if (last && !passed) sessions.push(last);
  const earlier = hidden === '' ? Math.max(0, (total?.said ?? 0) - read) : 0;
  const [latest] = sessions;
  const latestId = latest?.kind === 'talk' ? latest.sessionId : (latest?.last?.sessionId ?? null);
  const ended = latestId === null ? null : await readEnd(tx, latestId);
  return { agentId, sessions: sessions.reverse(), earlier, ...(ended ? { ended } : {}) };
}

/** For each agent the newest sessions, until `cap` characters are filled. */
export async function readWakeContext(
  db: ViewsDatabase,
  { agentIds, cap }: { agentIds: readonly AgentId[]; cap: number },
  now: number,
): Promise<readonly WakeContext[]> {
  const tx = open(db);
  const [forgets, identities] = await Promise.all([
    tx.objectStore('forgets').getAll(),
    tx.objectStore('identities').getAll(),
  ]);
  const birthsOf = (agentId: AgentId) =>
    new Set(identities.flatMap(({ doc }) => (doc.agentId === agentId ? [doc.bornSessionId] : [])));
  return Promise.all(
    agentIds.map((agentId) =>
      materialOf(tx, { agentId, cap, hidden: hiddenBefore(forgets, agentId, now), births: birthsOf(agentId) }),
    ),
  );
}

type Place = readonly string[];

const textOf = ({ blocks }: MessageDoc): string => {
  const block = blocks.find((one) => one.kind === 'text' && one.text.trim() !== '');
  return block?.kind === 'text' ? block.text : '';
};

/** The words of the first messages of a waking (oldest first) that say best what it was about. */
function wordsOf(first: readonly MessageDoc[]): Waking['words'] {
  const said = first.filter((doc) => doc.author !== 'relay' && textOf(doc) !== '');
  const chosen = said.find(({ author }) => author === 'human') ?? said[0];
  return chosen ? { author: chosen.author, text: inOneLine(textOf(chosen), LEDGER.wakingWords) } : null;
}

/** The key of a time in a conversation. Later messages have smaller keys. */
const placeOf = (time: number) => newestFirst(formatStamp({ time, counter: 0, node: '0' }));

/** `before`: as in `readConversation`. */
export async function readWakings(
  db: ViewsDatabase,
  { agentId, before, upTo, limit }: Parameters<WorkerCalls['wakings']>[0],
  now: number,
): Promise<WakingsPage> {
  const tx = db.transaction(['messages', 'records', 'forgets', 'sessions']);
  const hidden = hiddenBefore(await tx.objectStore('forgets').getAll(), agentId, now);
  const end = beginning(hidden);
  const place = tx.objectStore('messages').index('place');
  const talk = tx.objectStore('messages').index('talk');

  /** Everything of one session. Its oldest message comes first. */
  async function ofSession(newest: MessageRecord, sessionId: string) {
    const range = IDBKeyRange.bound([sessionId, agentId], [sessionId, agentId, end]);
    const first: MessageRecord[] = [];
    let cursor = await talk.openCursor(range, 'prev');
    while (cursor && first.length < LEDGER.wakingFirst) {
      if (!isWaiting(cursor.value.doc)) first.push(cursor.value);
      cursor = await cursor.continue();
    }
    return { first: first.length > 0 ? first : [newest], messages: await talk.count(range), run: null };
  }

  /**
   * Everything from the start of a run up to its newest message. Where the start is unknown, that
   * message alone.
   */
  async function ofRun(newest: MessageRecord, runId: string) {
    const records = await Promise.all(
      RUN_PHASES.map((phase) => tx.objectStore('records').get(`run:${runId}:${phase}`)),
    );
    const run = docsOf(records.flatMap((record) => record ?? [])).filter(
      (doc): doc is RunDoc => isKnown(doc) && doc.type === 'run',
    );
    const began = run.flatMap(({ phase }) => (phase.kind === 'start' ? [phase.startedAt] : []))[0];
    const from = newest.place ?? [];
    const until = began === undefined ? '' : [placeOf(began), end].toSorted()[0];
    if (until === undefined || until < (from[1] ?? '')) return { first: [newest], messages: 1, run };
    const range = IDBKeyRange.bound([...from], [agentId, until, AFTER_ALL]);
    const first: MessageRecord[] = [];
    let messages = 0;
    for (let cursor = await place.openCursor(range); cursor; cursor = await cursor.continue()) {
      const { doc } = cursor.value;
      if (doc.sessionId !== null || (doc.runId ?? runId) !== runId) continue;
      messages += 1;
      first.unshift(cursor.value);
    }
    return { first, messages, run };
  }

  async function importedFrom(sessionId: SessionId): Promise<Pick<Waking, 'imported'>> {
    const start = await tx.objectStore('sessions').get(`session:${sessionId}:start`);
    const imported = start?.doc.phase.kind === 'start' ? start.doc.phase.imported : undefined;
    if (!imported) return {};
    const { from, title, branchOf } = imported;
    return { imported: { from, title, isBranch: branchOf !== undefined } };
  }

  const wakings: Waking[] = [];
  const told = new Set<string>();
  const cut = before?.indexOf('|') ?? -1;
  let after: Place = [
    agentId,
    ...(before !== null ? [before.slice(0, cut), before.slice(cut + 1)] : upTo !== null ? [placeOf(upTo)] : []),
  ];
  for (;;) {
    if ((after[1] ?? '') >= end) return { wakings, before: null };
    const cursor = await place.openCursor(IDBKeyRange.bound([...after], [agentId, end], true));
    if (!cursor) return { wakings, before: null };
    if (wakings.length === limit) return { wakings, before: after.slice(1).join('|') };
    const newest = cursor.value;
    after = newest.place ?? after;
    const { sessionId, runId } = newest.doc;
    const id = sessionId ?? runId;
    // A message that waits in an inbox woke no agent.
    if (isWaiting(newest.doc) || id === undefined || told.has(id)) continue;
    told.add(id);
    const whole = sessionId !== null ? await ofSession(newest, sessionId) : await ofRun(newest, id);
    const [oldest = newest] = whole.first;
    if (oldest.place && oldest.place[1] > (after[1] ?? '')) after = oldest.place;
    wakings.push({
      id,
      run: whole.run,
      messageId: oldest.doc.messageId,
      from: oldest.doc.time,
      until: newest.doc.time,
      messages: whole.messages,
      words: wordsOf(docsOf(whole.first)),
      ...(sessionId === null ? {} : await importedFrom(sessionId)),
    });
  }
}

/**
 * All changes of one agent. There is no index by agent: changes are few, and only read when the
 * person looks at an agent's past.
 */
export async function readChanges(db: ViewsDatabase, agentId: AgentId): Promise<readonly AgentChangeDoc[]> {
  return docsOf(await db.getAll('changes'))
    .filter((doc) => doc.agentId === agentId)
    .sort(byAge);
}
