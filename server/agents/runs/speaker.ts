/**
 * The speaker: one conversation of the lead or of an agent, in a session or in a run outside it. It
 * gives one answer at a time. Items that arrive in the meantime wait in order and are delivered
 * together, except a call to the team, which is delivered alone.
 */
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { isAway } from '../../store/index.ts';
import { type AnswerOutcome, createAnswerWriter } from './answer.ts';
import { saidIn } from './briefing.ts';
import { createDelivery, type Current, type SpeakerDeps, type Turn } from './delivery.ts';
import type { Item } from './item.ts';
import { createItemQueue } from './item-queue.ts';
import { DATABASE_BROKE, type Interruption, RUN_BROKEN, statusOf } from './outcome.ts';
import { TOOLS_CUT } from './toolbox.ts';

export interface Speaker {
  /** Adds items. A quiet speaker starts in the same tick. */
  put(items: readonly Item[]): void;
  /** Starts a turn if there is anything to gather. The turn tells the agent `why`. */
  prod(why?: string): void;
  /** Resolves when the speaker is quiet. */
  whenQuiet(): Promise<void>;
  /**
   * Whether a message of the person waits, is being answered, or is in the mind's conversation.
   * Then another can replace it.
   */
  holds(messageId: MessageId): boolean;
  /** Withdraws one waiting message of the person, and no others. False: it does not wait. */
  withdraw(messageId: MessageId): boolean;
  /**
   * Withdraws a message and everything that the person wrote after it. None of it waits any more,
   * and the current answer is stopped, on disk.
   */
  withdrawFrom(messageId: MessageId): Promise<void>;
  /** The person has corrected this summary. The conversation goes on by it if it has it. */
  correctSummary(messageId: MessageId, text: string): void;
  /** The person has called the team. Their earlier messages cannot be withdrawn any more. */
  settle(): void;
  /** An answer is under way, even if it has no words yet. */
  busy(): boolean;
  /** Characters of its conversation, without the system prompt. */
  size(): number;
  /**
   * Ends the current answer, and resolves when that is on disk. Waiting items are delivered next.
   */
  interrupt(why: Interruption): Promise<void>;
  /** As `interrupt`. Nothing is delivered or said afterwards. */
  close(why: Interruption): Promise<void>;
  /**
   * As `close`, but this item is answered before. The answer ends after `limitMs` in any case.
   */
  closeAfter(last: Item, limitMs: number, why: Interruption): Promise<void>;
  /** How many messages of the person it was given. */
  personSaid(): number;
  /** Its last answer came from the demo. */
  isDemo(): boolean;
}

export function createSpeaker(deps: SpeakerDeps): Speaker {
  const { context, life, announces, hooks } = deps;
  const { sessionId, now, newId, record } = context;
  const { agentId, runId } = life;
  const queue = createItemQueue();
  let prodded = false;
  let current: Current | null = null;
  let running: Promise<void> | null = null;
  let closed = false;
  const delivery = createDelivery(deps, queue.noteRead);
  const { conversation } = delivery;

  /**
   * Whether the items only ask for a greeting or an answer to other agents. Schedules report to the
   * person, who set them.
   */
  const isUnasked = (items: readonly Item[]) =>
    (life.cause.kind === 'session' || life.cause.kind === 'wake') && !items.some(({ fromPerson }) => fromPerson);

  async function answer(items: readonly Item[]): Promise<void> {
    const messageId = newId();
    for (const { replaces } of items) if (replaces !== undefined) conversation.cutBefore(replaces);
    const writer = createAnswerWriter({
      messageId,
      agentId,
      author: agentId,
      sessionId,
      runId,
      record,
      now,
      onWriteFailed: () => void interrupt({ by: 'relay', error: RUN_BROKEN }),
      onFirstWords: () => hooks.onFirstWords?.() ?? [],
    });
    let resolveOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (resolveOver = resolve));
    const mine: Current = {
      given: items,
      abort: new AbortController(),
      heard: new AbortController(),
      writer,
      interruption: null,
      over,
    };
    current = mine;
    if (queue.hasOfPerson()) mine.heard.abort();
    try {
      await take(items, messageId, mine);
    } catch (error) {
      // The words stay, although the answer does not continue.
      await writer.finish({ status: 'interrupted', error: null, usage: null }, []);
      throw error;
    } finally {
      // Callers that wait for its end must not wait forever.
      context.waiting.set(agentId, null);
      current = null;
      resolveOver();
    }
  }

  async function take(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    const endTurn = await context.takeTurn(agentId, mine.abort.signal);
    // The speaker was stopped before its turn. The messages stay in the conversation, and nothing
    // is asked.
    if (!endTurn) return conversation.addUser(saidIn(given));
    try {
      await takeInTurn(given, messageId, mine);
    } finally {
      endTurn();
    }
  }

  async function takeInTurn(items: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    // Messages are taken out of the inbox only for delivery. A paused agent takes none, because the
    // session may end before it is resumed.
    await delivery.untilResumed(mine.abort.signal);
    // The agent was paused to the end. Nothing of the turn was delivered.
    if (mine.interruption?.by === 'closing') return;
    const recordEnd = await context.recordWork(agentId, { kind: 'turn', messageId });
    try {
      await deliver(items, messageId, mine);
    } finally {
      await recordEnd();
    }
  }

  async function deliver(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    const { writer } = mine;
    const turn: Turn = { items: given, read: [], isPut: false };
    const outcome = await delivery.ask(turn, messageId, mine).catch(async (error: unknown): Promise<AnswerOutcome> => {
      if (!isAway(error)) throw error;
      context.logger.warn('An answer was cut off because the database connection broke.', { agentId, error });
      mine.interruption ??= { by: 'database', error: DATABASE_BROKE };
      conversation.closeCalls(TOOLS_CUT);
      // The messages were sent to the agent, so the next turn delivers them.
      if (!turn.isPut) {
        conversation.addUser(saidIn(turn.items));
        hooks.onStart?.(turn.items);
        // The person sees that an answer was due.
        if (announces()) await writer.begin(turn.read);
        else if (turn.read.length > 0) await record(turn.read);
      }
      return { status: 'interrupted', error: null, usage: null, stop: null, failure: null };
    });
    if (outcome === null) return;
    const { items } = turn;
    // A call without any answer is over. The next call must not be read together with it.
    for (const item of items)
      if (item.alone && item.messageId !== null && writer.blocks().length === 0) conversation.cutBefore(item.messageId);
    const end = { ...outcome, ...statusOf(outcome, mine.interruption) };
    const with_ =
      hooks.onEnd?.({
        ...end,
        items,
        blocks: writer.blocks(),
        hasWords: writer.hasWords(),
        interruption: mine.interruption,
      }) ?? [];
    await writer.finish({ ...end, unasked: isUnasked(items) }, with_);
  }

  async function run(): Promise<void> {
    try {
      while ((!queue.isEmpty() || prodded) && !closed) {
        prodded = false;
        await answer(queue.take());
      }
    } finally {
      // Also after a failure: otherwise, callers that wait until it is quiet would wait forever.
      running = null;
    }
    if (!closed) context.onQuiet(agentId);
  }

  function start(): void {
    if (running) hooks.onWaiting?.();
    else running = run().catch(context.fail);
  }

  async function interrupt(why: Interruption): Promise<void> {
    if (!current) return;
    current.interruption ??= why;
    current.abort.abort();
    await current.over;
  }

  return {
    put(items) {
      if (closed || items.length === 0) return;
      queue.add(items);
      if (items.some(({ fromPerson }) => fromPerson)) current?.heard.abort();
      start();
    },
    prod(why) {
      if (closed) return;
      if (why !== undefined) delivery.woken(why);
      prodded = true;
      if (!running) start();
    },
    whenQuiet: async () => {
      while (running) await running;
    },
    holds: (messageId) =>
      queue.isOfPerson(messageId) &&
      (queue.has(messageId) ||
        (current?.given.some((item) => item.messageId === messageId) ?? false) ||
        conversation.has(messageId)),
    withdraw: queue.withdraw,
    async withdrawFrom(messageId) {
      if (!queue.withdrawFrom(messageId)) await interrupt({ by: 'person' });
    },
    correctSummary: delivery.correctSummary,
    settle: queue.settle,
    busy: () => running !== null,
    size: () => conversation.size(),
    interrupt,
    async close(why) {
      closed = true;
      queue.clear();
      await interrupt(why);
    },
    async closeAfter(last, limitMs, why) {
      closed = true;
      queue.clear();
      await interrupt(why);
      const cancel = context.timers.after(limitMs, () => void interrupt(why));
      running = answer([last])
        .catch(context.fail)
        .finally(() => {
          cancel();
          running = null;
        });
      await running;
    },
    personSaid: delivery.personSaid,
    isDemo: delivery.isDemo,
  };
}
