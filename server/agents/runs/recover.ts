/**
 * Recovery after a crash. An answer that was under way ends as `interrupted`, with the words that
 * are in the log. Every run ends as `crashed`, and the session as `crash`.
 */
import type { RoostEvent, Snapshot } from '../../../src/shared/protocol/events.ts';
import type { MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import { addCost, type Cost, NO_COST } from '../../../src/shared/domain/prices.ts';
import type { Block, Usage } from '../../../src/shared/protocol/documents.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { type EventLog, UnfitEvents } from '../../log/index.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import { addUsage } from './life.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

// How a run writes its events.

interface RecordDeps {
  readonly append: EventLog['append'];
  /** Some events did not fit their schema, which is a bug of ours. The others were written. */
  readonly onUnfit: (error: UnfitEvents) => void;
  /** The log cannot be written. */
  readonly fail: (error: unknown) => void;
  /**
   * Whether the run is broken. Then only the final `message` of each answer is written, which has
   * all of its words. Left out: never.
   */
  readonly isBroken?: () => boolean;
}

const isLast = ({ kind }: RoostEvent) => kind !== 'text' && kind !== 'tool';

/** Resolves when the events are on disk, with whether all of them are. Never rejects. */
export type WriteEvents = (events: readonly RoostEvent[]) => Promise<boolean>;

export function createRecord({ append, onUnfit, fail, isBroken = () => false }: RecordDeps): WriteEvents {
  return async (given) => {
    const events = isBroken() ? given.filter(isLast) : given;
    try {
      await append(events);
      return events.length === given.length;
    } catch (error) {
      if (!(error instanceof UnfitEvents)) {
        fail(error);
        return false;
      }
      onUnfit(error);
      await append(error.fit).catch(fail);
      return false;
    }
  };
}

/** Events that are read at a time in the search for open answers. */
const PAGE = 2_000;

/** Open answers and runs in the log. */
interface Left {
  /** The words and the start of each answer. */
  readonly blocks: Map<string, Block[]>;
  readonly began: Map<string, number>;
  /** The answers of each run, and their usage. */
  readonly given: Map<string, { readonly messageIds: MessageId[]; usage: Usage | null }>;
}

async function* eventsOf(log: EventLog): AsyncGenerator<RoostEvent> {
  for (let after = 0; ;) {
    const page = await log.read(after, PAGE);
    for (const { event } of page) yield event;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
}

function say(blocks: Block[], event: Extract<RoostEvent, { kind: 'text' | 'tool' }>): void {
  if (event.kind === 'text') {
    const last = blocks.at(-1);
    if (last?.kind === 'text') blocks[blocks.length - 1] = { kind: 'text', text: last.text + event.text };
    else blocks.push({ kind: 'text', text: event.text });
    return;
  }
  const { block } = event;
  const open = blocks.findIndex(
    (held) => held.kind === 'tool' && block.kind === 'tool' && held.toolUseId === block.toolUseId,
  );
  if (open < 0) blocks.push(block);
  else blocks[open] = block;
}

async function readLeft(log: EventLog, { answering, runs }: Snapshot): Promise<Left> {
  const leftovers: Left = {
    blocks: new Map(answering.map(({ messageId }) => [messageId, []])),
    began: new Map(),
    given: new Map(runs.map(({ runId }) => [runId, { messageIds: [], usage: null }])),
  };
  for await (const event of eventsOf(log)) {
    if (event.kind === 'answer-started') {
      leftovers.began.set(event.messageId, event.time);
      leftovers.given.get(event.runId ?? '')?.messageIds.push(event.messageId);
    } else if (event.kind === 'message') {
      const given = leftovers.given.get(event.runId ?? '');
      if (given) given.usage = addUsage(given.usage, event.usage);
    } else if (event.kind === 'text' || event.kind === 'tool') {
      const blocks = leftovers.blocks.get(event.messageId);
      if (blocks) say(blocks, event);
    }
  }
  return leftovers;
}

/**
 * Returns messages to their inboxes that were taken but did not reach the log before the crash: no
 * agent has read them. `readIn`: a session, or a run outside a session.
 */
async function giveBackUnread(log: EventLog, inbox: RecoverDeps['inbox'], readIn: SessionId | RunId): Promise<void> {
  const taken = new Map((await inbox.takenIn(readIn)).map((message) => [message.messageId, message]));
  if (taken.size === 0) return;
  for await (const event of eventsOf(log)) {
    if (event.kind === 'message-read' || (event.kind === 'message' && !event.waiting)) taken.delete(event.messageId);
    if (event.kind !== 'tool' || event.block.kind !== 'tool') continue;
    // A mind's own search has its results in the result of its call.
    const { result } = event.block;
    for (const { messageId, read, text } of taken.values())
      if (read?.run === event.messageId && result?.includes(text)) taken.delete(messageId);
  }
  await inbox.release([...taken.keys()]);
}

interface RecoverDeps {
  readonly log: EventLog;
  readonly inbox: Pick<Inbox, 'takenIn' | 'release'>;
  /** The costs of these answers. */
  readonly costs: {
    replies(messageIds: readonly MessageId[]): Promise<ReadonlyMap<string, Cost>>;
  };
  /** ms since the epoch */
  readonly now: () => number;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

/** Ends everything that an earlier process left open. Called once, before anything else. */
export async function recoverLog({
  log,
  inbox,
  costs,
  now,
  setAside = SETS_NOTHING_ASIDE,
}: RecoverDeps): Promise<void> {
  const snapshot = log.snapshot();
  const { session, runs, answering } = snapshot;
  if (!session && runs.length === 0 && answering.length === 0) return;
  const alone = runs.filter(({ sessionId }) => sessionId === null).map(({ runId }) => runId);
  await setAside.each(
    'messages',
    [...(session ? [session.sessionId] : []), ...alone],
    (readIn) => readIn,
    (readIn) => giveBackUnread(log, inbox, readIn),
  );
  const leftovers = await readLeft(log, snapshot);
  const answers = answering.map(({ messageId, agentId, sessionId, runId }): RoostEvent => ({
    kind: 'message',
    // The message keeps the time at which it began.
    time: leftovers.began.get(messageId) ?? now(),
    messageId,
    sessionId,
    ...(runId === undefined ? {} : { runId }),
    agentId,
    author: agentId,
    role: 'assistant',
    blocks: leftovers.blocks.get(messageId) ?? [],
    status: 'interrupted',
    error: null,
    usage: null,
    clientId: null,
    replaces: null,
    waiting: false,
  }));
  const ends = await Promise.all(
    runs.map(async ({ runId, agentId, sessionId }): Promise<RoostEvent> => {
      const { messageIds = [], usage = null } = leftovers.given.get(runId) ?? {};
      const spent = [...(await costs.replies(messageIds)).values()];
      return {
        kind: 'run-ended',
        time: now(),
        runId,
        agentId,
        sessionId,
        outcome: 'crashed',
        reason: sentence`The relay stopped in the middle of it.`,
        usage,
        ...spent.reduce<Cost>(addCost, NO_COST),
      };
    }),
  );
  const over: readonly RoostEvent[] = session
    ? [{ kind: 'session-ended', time: now(), sessionId: session.sessionId, reason: 'crash' }]
    : [];
  await log.append([...answers, ...ends, ...over]);
}
