/** Which events are worth telling, and when what was told is over. */
import type { AgentId, MessageId } from '../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { parseStamp } from '../../src/shared/domain/stamp.ts';
import { nextHour } from '../../src/shared/domain/zone-days.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import type { NotificationKind, RaisedNotification } from '../../src/shared/protocol/notifications.ts';
import type { Calls } from '../tools/calls/index.ts';
import type { Directory } from '../contracts/index.ts';
import type { NotificationRows } from './rows.ts';
import { NOTIFICATION_LIMITS as LIMITS } from './settings.ts';

interface Deps {
  readonly calls: Pick<Calls, 'waiting'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** Of the household. */
  readonly readZone: () => Promise<string>;
  readonly rows: Pick<NotificationRows, 'open'>;
  readonly raise: (raised: RaisedNotification) => Promise<void>;
  readonly close: (key: string, browser: string | null) => Promise<void>;
}

const TITLES: Readonly<Record<NotificationKind, (name: string) => string>> = {
  approval: (name) => `${name} waits for your answer`,
  failure: (name) => `${name} could not finish a piece of work`,
  mention: (name) => `${name} has a message for you`,
  answer: (name) => `${name} has answered`,
  night: () => 'Your agents were at work while you were away',
};
/** One message of a conversation. */
const messageAt = (agentId: AgentId, messageId: MessageId) =>
  `${agentId === LEAD_ID ? '/lead' : `/agent/${encodeURIComponent(agentId)}`}/at/${encodeURIComponent(messageId)}`;
/** As people name the person in a thread. */
const NAMES_PERSON = /@human\b/i;

export function createRaised({ calls, directory, rows, raise, close, now, readZone }: Deps) {
  /**
   * ms that an answer took, which is dated by its beginning. What is stamped ahead of the clock
   * says nothing of that, and was just written.
   */
  function tookMs(begunAt: number, completedAt: string): number {
    const whole = parseStamp(completedAt)?.time ?? 0;
    return (whole > now() ? now() : whole) - begunAt;
  }

  async function tell(kind: NotificationKind, id: string, agentId: AgentId, path: string, at = now()): Promise<void> {
    const name = (await directory.all()).find((each) => each.agentId === agentId)?.name ?? null;
    const title = TITLES[kind](name ?? (agentId === LEAD_ID ? 'The lead' : 'An agent'));
    await raise({ key: `${kind}:${id}`, kind, agentId, path, title, name, raisedAt: at });
  }

  async function approvals(): Promise<void> {
    const waiting = await calls.waiting();
    const keys = new Set(waiting.map(({ callId }) => `approval:${callId}`));
    for (const { key, kind } of await rows.open(now()))
      if (kind === 'approval' && !keys.has(key)) await close(key, null);
    for (const { callId, agentId, later } of waiting)
      if (!later) await tell('approval', callId, agentId, `/approvals/${encodeURIComponent(agentId)}`);
  }

  return {
    approvals,
    /** What is to be done about it; null: nothing. */
    of(event: RoostEvent): (() => Promise<void>) | null {
      switch (event.kind) {
        case 'changed':
          return event.what === 'approvals' ? approvals : null;
        case 'run-ended':
          if (event.sessionId !== null) return null;
          if (event.outcome === 'failed' || event.outcome === 'timed-out' || event.outcome === 'crashed')
            return () => tell('failure', event.runId, event.agentId, `/night/${encodeURIComponent(event.agentId)}`);
          return async () => {
            // One for each night: the next morning, where the household is and not where its relay
            // stands.
            const at = nextHour(await readZone(), LIMITS.nightHour, now());
            return await tell('night', String(at), event.agentId, '/morning', at);
          };
        case 'message': {
          if (event.role !== 'assistant' || event.status !== 'complete') return null;
          const { messageId, agentId, completedAt, time } = event;
          // What was not begun as an answer an agent has left for the person.
          if (completedAt === undefined)
            return () => tell('mention', messageId, agentId, messageAt(agentId, messageId));
          if (event.sessionId === null || tookMs(time, completedAt) < LIMITS.longAnswerMs) return null;
          return () => tell('answer', messageId, agentId, messageAt(agentId, messageId));
        }
        case 'record': {
          if (event.record.type !== 'thread-message') return null;
          const { from, text, threadId, time } = event.record.value;
          const { id } = event.record;
          // A relay that lost its home is given old ones back, and does not know that they were
          // told.
          if (from === 'human' || !NAMES_PERSON.test(text) || now() - time > LIMITS.newsMs) return null;
          return () =>
            tell('mention', id, from, `/threads/${encodeURIComponent(threadId)}/at/${encodeURIComponent(id)}`);
        }
        default:
          return null;
      }
    },
  };
}
