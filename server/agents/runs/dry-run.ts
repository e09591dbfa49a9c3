/**
 * Stand-ins for a dry run of an agent: nothing is stored, announced or counted, and no model is
 * asked. The run takes the steps of a real one.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import { NO_COST } from '../../../src/shared/domain/prices.ts';
import type { StoredEvent } from '../../../src/shared/protocol/events.ts';
import type { EventLog } from '../../log/index.ts';
import type { Costs } from '../../team/costs/contract.ts';
import { sizeOfRequest, type AgentMind, type Mind, type MindAnswer } from '../minds/index.ts';

/** A log that stores nothing. */
export function createNoLog(): EventLog {
  const listeners = createListeners<[StoredEvent]>();
  let head = 0;
  const append: EventLog['append'] = async (events) => {
    await new Promise((resolve) => setImmediate(resolve));
    const stored = events.map((event): StoredEvent => ({ id: ++head, event }));
    for (const each of stored) listeners.tell(each);
    return stored;
  };
  return {
    id: 'dry',
    append,
    appendOnce: async (_clientId, events) => ({ eventId: (await append(events))[0]?.id ?? 0, repeated: false }),
    follow: () => undefined,
    isAhead: () => false,
    written: () => Promise.resolve(null),
    read: () => Promise.resolve([]),
    subscribe: listeners.subscribe,
    head: () => head,
    ack: () => Promise.resolve(),
    snapshot: () => ({ session: null, runs: [], answering: [], lastEnd: null, upTo: head }),
  };
}

/** Every request may be sent, and none is counted. */
export const FREE: Pick<Costs, 'check'> = {
  check: () =>
    Promise.resolve({
      ok: true,
      hold: {
        release: () => undefined,
        settle: () => Promise.resolve(),
        spent: () => NO_COST,
        again: () => Promise.resolve(false),
      },
    }),
};

export interface Measured {
  readonly agentId: AgentId;
  readonly model: string;
  /** UTF-8 bytes of the request. */
  readonly bytes: number;
  /** UTF-8 bytes of its tools and its system prompt, measured when asked for. */
  readonly head: () => number;
}

export const dryAnswer = (text: string): MindAnswer => ({
  ok: true,
  blocks: [{ kind: 'text', text }],
  stop: 'end',
  usage: null,
});

/**
 * A mind that measures each request and sends none. `answerOf` gives its answers: `nth` counts an
 * agent’s requests from 1, and null is one word.
 */
export function createMeasuringMind(
  mind: Mind,
  onRequest: (one: Measured) => void,
  answerOf: (agentId: AgentId, nth: number) => MindAnswer | null = () => null,
): Mind {
  const current = mind.current?.() ?? mind;
  const mindOf = (agentId: AgentId): AgentMind => {
    let nth = 0;
    return {
      counts: 'reports',
      web: (model) => current.web?.(model) ?? false,
      searches: (model) => current.searches?.(model) ?? false,
      answer(request, { onText }) {
        const searching = current.searches?.(request.model) ?? false;
        const { bytes, model } = sizeOfRequest(request, searching);
        const head = () => sizeOfRequest({ ...request, messages: [] }, searching).bytes;
        onRequest({ agentId, model, bytes, head });
        nth += 1;
        const answer = answerOf(agentId, nth);
        if (answer !== null) return Promise.resolve(answer);
        onText('Hello.');
        return Promise.resolve(dryAnswer('Hello.'));
      },
    };
  };
  const minds = new Map<AgentId, AgentMind>();
  return {
    models: (chosen) => current.models(chosen),
    of({ agentId }) {
      const one = minds.get(agentId) ?? mindOf(agentId);
      minds.set(agentId, one);
      return Promise.resolve(one);
    },
    answer: () => Promise.resolve(dryAnswer('Hello.')),
    close: () => Promise.resolve(),
  };
}
