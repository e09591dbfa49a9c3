/**
 * Reads the inbox of an agent that is awake. The person's messages are delivered at once. Messages
 * of other agents start no turn, so they cost nothing on their own. They are delivered with the
 * next turn.
 */
import { messageTypeText } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import { messageBatch } from '../../../src/shared/domain/message-batch.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import { withSeat } from '../../../src/shared/domain/prompts.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { InboxMessage } from '../../../src/shared/protocol/threads.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import { WAYS } from '../../team/memory/foreign.ts';
import type { RunContext } from './context.ts';
import type { Gathered } from './delivery.ts';
import { messageEvent } from './message-event.ts';
import type { Speaker } from './speaker.ts';
import { moreWait } from '../../team/inbox/index.ts';
import type { Item } from './item.ts';

export interface InboxReader {
  /** Starts delivery. */
  open(): void;
  /** The inbox changed, or the agent became able to read it. */
  changed(): void;
  /**
   * Takes everything that waits for this run: the items, and their events. They are on disk as read
   * before it resolves, so that no message is delivered twice.
   */
  take(run: string): Promise<Gathered>;
}

const NOTHING = { items: [], events: [] } as const;
/** A message from a thread is read and answered with these. */
const THREAD_TOOLS = ['read_thread', 'send_message_to_thread'] as const;
/** The person wrote it in this conversation. */
const isOwnTalk = ({ from }: InboxMessage) => from === 'human';

/** The line above another agent's words. */
function headOf({ from, priority, type, threadId }: InboxMessage, team: readonly TeamMember[]): string {
  const what = messageTypeText(type);
  const name = from === 'relay' ? 'the relay' : withSeat(team, from);
  return `[Message from ${name}${threadId === null ? '' : `, in thread ${threadId}`}${priority === 'normal' ? '' : `, ${priority}`}${what === null ? '' : `, ${what}`}]`;
}

export interface InboxReaderContext extends Pick<RunContext, 'sessionId' | 'rest' | 'limits' | 'now' | 'logger'> {
  readonly inbox: Pick<Inbox, 'waiting' | 'claim' | 'count'>;
  readonly directory: Pick<Directory, 'all'>;
}

/** The agent, and the session or run in which it reads. */
export interface ReadIn {
  readonly agentId: AgentId;
  readonly runId: RunId;
}

interface Taken {
  readonly items: readonly Item[];
  /** Events to write for these items. */
  readonly events: readonly RoostEvent[];
  /** Messages that still wait. */
  readonly left: number;
}

/**
 * Takes waiting messages for this answer, up to the batch limit. They are on disk as read before it
 * resolves, so that no message is delivered twice.
 */
export async function takeWaiting(
  { inbox, directory, sessionId, limits, now }: Omit<InboxReaderContext, 'rest' | 'logger'>,
  { agentId, runId }: ReadIn,
  answer: string,
): Promise<Taken> {
  /**
   * Another agent's message enters the conversation when it is read. The person's message was in it
   * from the start.
   */
  function eventOf(message: InboxMessage): RoostEvent {
    const read = { time: now(), messageId: message.messageId, sessionId, runId, agentId };
    return isOwnTalk(message)
      ? { kind: 'message-read', ...read }
      : messageEvent({ ...read, author: message.from, text: message.text });
  }

  const waiting = messageBatch(await inbox.waiting(agentId, limits.messages.count), limits.messages);
  if (waiting.length === 0) return { ...NOTHING, left: 0 };
  // Counted before they are taken. If the count failed afterwards, the taken messages would be
  // lost.
  const all = await inbox.count(agentId);
  const team = waiting.every(isOwnTalk) ? [] : await directory.all();
  const claimed = await inbox.claim(
    waiting.map(({ messageId }) => messageId),
    { readIn: sessionId ?? runId, run: answer, time: now() },
  );
  const remaining = Math.max(0, all - claimed.length);
  return {
    items: [
      ...claimed.map((message) => ({
        messageId: message.messageId,
        text: isOwnTalk(message) ? message.text : writeSaid({ head: headOf(message, team), text: message.text }),
        fromPerson: isOwnTalk(message),
        ...(isOwnTalk(message) ? {} : { way: WAYS.message }),
        ...(message.threadId === null ? {} : { tools: THREAD_TOOLS }),
        ...(message.attachments ? { attachments: message.attachments } : {}),
      })),
      ...(remaining === 0 ? [] : [{ messageId: null, text: `[${moreWait(remaining)}]` }]),
    ],
    events: claimed.map(eventOf),
    left: remaining,
  };
}

export function createInboxReader(context: InboxReaderContext, of: ReadIn, speaker: () => Speaker | null): InboxReader {
  const { inbox, rest, logger } = context;
  const { agentId } = of;
  let isOpen = false;

  async function prodFor(isWorthATurn: (message: InboxMessage) => boolean): Promise<void> {
    if ((await inbox.waiting(agentId, 1)).some(isWorthATurn)) speaker()?.prod();
  }

  const check = (isWorthATurn: (message: InboxMessage) => boolean) => {
    if (!isOpen || rest.isPaused(agentId)) return;
    prodFor(isWorthATurn).catch((error: unknown) =>
      logger.error('The inbox could not be read. Its messages stay there.', { agentId, error }),
    );
  };

  return {
    open() {
      if (isOpen) return;
      isOpen = true;
      // An agent that wakes reads everything.
      check(() => true);
    },
    changed: () => check(isOwnTalk),
    async take(run) {
      if (!isOpen) return NOTHING;
      const taken = await takeWaiting(context, of, run);
      // The person's messages that did not fit start another turn at once.
      if (taken.left > 0) check(isOwnTalk);
      return taken;
    },
  };
}
