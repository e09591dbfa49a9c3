/**
 * What agents take along when they wake, from views alone. Sessions are read newest first, and no
 * more than fills the room: it costs the same after years as after a day.
 */
import type { SessionEnd } from '../../../shared/domain/lifecycle.ts';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import { talkText } from '../../../shared/domain/talk.ts';
import { LONG_SHARE } from '../../../shared/domain/transcript.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import type { WakeMaterial, WakeSession } from '../../../shared/protocol/worker.ts';
import { LEDGER } from '../settings.ts';
import type { TalkRecord, ViewsDatabase } from './database.ts';
import { isWaiting } from './message.ts';
import { byAge, newestFirst } from './order.ts';
import { hiddenBefore } from './read.ts';

/** Sorts after every stamp and id. */
const AFTER_ALL = '\uffff';
/** What the head of a message takes at least. */
const HEAD_CHARS = 24;

const open = (db: ViewsDatabase) =>
  db.transaction(['talks', 'totals', 'messages', 'reads', 'forgets', 'identities', 'sessions']);
type Reading = ReturnType<typeof open>;
interface Request {
  readonly agentId: AgentId;
  readonly cap: number;
  /** Out of sight: everything with a stamp before this; '' where nothing is. */
  readonly hidden: string;
  /** The sessions in which it was born. */
  readonly births: ReadonlySet<string | null>;
}

/** The newest of one session until `room` is full, and what it takes. */
async function readTalk(
  tx: Reading,
  talk: TalkRecord,
  room: number,
  { agentId, cap, hidden }: Request,
): Promise<{ readonly session: WakeSession; readonly chars: number }> {
  const { sessionId } = talk;
  const messages = tx.objectStore('messages');
  const end = [sessionId, agentId, hidden === '' ? AFTER_ALL : newestFirst(hidden)];
  const reads = await tx
    .objectStore('reads')
    .index('talk')
    .getAll(IDBKeyRange.bound([sessionId, agentId], end));
  const waited = await Promise.all(
    reads.map(async ({ doc }) => ({ at: doc.at, message: (await messages.get(`message:${doc.messageId}`))?.doc })),
  );
  // Each stands where it was read, among what was said there.
  const arrived = waited.flatMap(({ at, message }) =>
    message && message.at >= hidden ? [{ ...message, at, waiting: false }] : [],
  );
  const taken: MessageDoc[] = [];
  let chars = 0;
  // A message that is too long to be told whole is cut as far as the others need it.
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
  // What is to be forgotten is counted among the session's messages, and must not be told of.
  const earlier = hidden === '' ? Math.max(0, talk.said - taken.length) : 0;
  return {
    session: { kind: 'talk', sessionId, addressed: talk.addressed !== undefined, messages: taken.sort(byAge), earlier },
    chars,
  };
}

/** Its greeting, where it said one. */
async function readGreeting(tx: Reading, { sessionId, agentId }: TalkRecord): Promise<MessageDoc | null> {
  const newest = await tx
    .objectStore('messages')
    .index('talk')
    .getAll(IDBKeyRange.bound([sessionId, agentId], [sessionId, agentId, AFTER_ALL]), LEDGER.greetingLook);
  return (
    newest.find(
      ({ doc }) =>
        doc.author === agentId && doc.blocks.some((block) => block.kind === 'text' && block.text.trim() !== ''),
    )?.doc ?? null
  );
}

type Place = readonly [string, string?];

/**
 * The sessions of nothing but a greeting between two places (newest first, both exclusive), counted
 * by their keys alone.
 */
async function readGreetings(
  tx: Reading,
  from: Place,
  end: Place,
  withWords: boolean,
  births: Request['births'],
): Promise<WakeSession | null> {
  const talks = tx.objectStore('talks');
  const range = IDBKeyRange.bound(from, end, true, true);
  const keys = await talks.index('quiet').getAllKeys(range, LEDGER.wakeGreetings + 1);
  const more = keys.length > LEDGER.wakeGreetings;
  // A birth is told by the soul.
  const counted = keys.slice(0, LEDGER.wakeGreetings).filter(([, sessionId]) => !births.has(sessionId));
  const read = (key: [string, string] | undefined) => Promise.resolve(key && talks.get(key));
  const [newest, oldest] = await Promise.all([read(counted.at(0)), read(counted.at(-1))]);
  if (!newest || !oldest) return null;
  // The last that has words: an agent that was cut off said nothing.
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

async function materialOf(tx: Reading, request: Request): Promise<WakeMaterial> {
  const { agentId, cap, hidden, births } = request;
  const talks = tx.objectStore('talks');
  const end = [agentId, hidden === '' ? AFTER_ALL : newestFirst(hidden)] as const;
  const fullAfter = (from: Place, limit: number) =>
    talks.index('full').getAll(IDBKeyRange.bound(from, end, true), limit);

  const { first, most } = LEDGER.wakeSessions;
  const [[primary], total, newest] = await Promise.all([
    talks.index('addressed').getAll(IDBKeyRange.bound([agentId], end), 1),
    tx.objectStore('totals').get(agentId),
    fullAfter([agentId], first),
  ]);

  // Newest first, as they are read.
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
  /** What lies between the last one taken and this place, where nobody said anything. */
  const greet = async (from: Place, until: Place) => {
    const greetings = await readGreetings(tx, from, until, sessions.length === 0, births);
    if (greetings) sessions.push(greetings);
  };

  let passed = last === null;
  let from: Place = [agentId];
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
  // What is newer has filled the room that it left.
  if (last && !passed) sessions.push(last);
  const earlier = hidden === '' ? Math.max(0, (total?.said ?? 0) - read) : 0;
  const [latest] = sessions;
  const latestId = latest?.kind === 'talk' ? latest.sessionId : (latest?.last?.sessionId ?? null);
  const ended = latestId === null ? null : await readEnd(tx, latestId);
  return { agentId, sessions: sessions.reverse(), earlier, ...(ended ? { ended } : {}) };
}

/** For each agent the newest sessions, until `cap` characters are filled. */
export async function readWakeMaterial(
  db: ViewsDatabase,
  { agentIds, cap }: { agentIds: readonly AgentId[]; cap: number },
  now: number,
): Promise<readonly WakeMaterial[]> {
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
