/**
 * When an agent was awake and talked, without reading what was said: the first and the newest
 * message of each session or run are found by key, and what lies between them is passed over.
 */
import { formatStamp } from '../../../shared/domain/stamp.ts';
import { inOneLine } from '../../../shared/domain/talk.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { AgentChangeDoc, MessageDoc, RunDoc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { OwnerCalls } from '../../../shared/protocol/owner-rpc.ts';
import type { Waking, WakingsPage } from '../../../shared/protocol/worker.ts';
import { LEDGER } from '../settings.ts';
import type { MessageRecord, ViewsDatabase } from './database.ts';
import { isWaiting } from './message.ts';
import { byAge, newestFirst } from './order.ts';
import { AFTER_ALL, beginning, docsOf, hiddenBefore, RUN_PHASES } from './read.ts';

type Place = readonly string[];

const textOf = ({ blocks }: MessageDoc): string => {
  const block = blocks.find((one) => one.kind === 'text' && one.text.trim() !== '');
  return block?.kind === 'text' ? block.text : '';
};

/** Of the first messages of a waking, oldest first, the one that says best what it was about. */
function wordsOf(first: readonly MessageDoc[]): Waking['words'] {
  const said = first.filter((doc) => doc.author !== 'relay' && textOf(doc) !== '');
  const chosen = said.find(({ author }) => author === 'human') ?? said[0];
  return chosen ? { author: chosen.author, text: inOneLine(textOf(chosen), LEDGER.wakingWords) } : null;
}

/** The place of a time in a conversation: what is later stands before it. */
const placeOf = (time: number) => newestFirst(formatStamp({ time, counter: 0, node: '0' }));

/** `before`: as `readConversation` has it. */
export async function readWakings(
  db: ViewsDatabase,
  { agentId, before, upTo, limit }: Parameters<OwnerCalls['wakings']>[0],
  now: number,
): Promise<WakingsPage> {
  const tx = db.transaction(['messages', 'records', 'forgets']);
  const hidden = hiddenBefore(await tx.objectStore('forgets').getAll(), agentId, now);
  const end = beginning(hidden);
  const place = tx.objectStore('messages').index('place');
  const talk = tx.objectStore('messages').index('talk');

  /** Everything of one session; the oldest of it first. */
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
   * Everything from the beginning of a run on, up to its newest message; where that is not known,
   * that message alone.
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
    // What waits in an inbox woke nobody.
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
    });
  }
}

/**
 * All changes of one agent. There is no index of them by agent: they are few, and asked for when
 * somebody looks at its past.
 */
export async function readChanges(db: ViewsDatabase, agentId: AgentId): Promise<readonly AgentChangeDoc[]> {
  return docsOf(await db.getAll('changes'))
    .filter((doc) => doc.agentId === agentId)
    .sort(byAge);
}
