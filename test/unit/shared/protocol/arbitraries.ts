/** Events and histories of events, as a relay could have written them. */
import fc from 'fast-check';
import {
  CHANGES,
  eventSchema,
  type EventKind,
  type EventOf,
  type RoostEvent,
  type StoredEvent,
} from '../../../../src/shared/protocol/events.ts';
import { anySeat, anyText } from '../domain/arbitraries.ts';

const id = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
const time = fc.integer({ min: 0, max: 999_999_999_999_999 });
const agentId = fc.constantFrom('lead', 'a', 'b', 'c');
const messageId = fc.constantFrom('m1', 'm2', 'm3');
const sessionId = fc.constantFrom('s1', 's2');
const runId = fc.constantFrom('r1', 'r2', 'r3');
const cause = fc.oneof(
  fc.record({ kind: fc.constant('session') }),
  fc.record({ kind: fc.constant('wake'), by: fc.constantFrom('human', 'a'), reason: fc.option(fc.string()) }),
  fc.record({ kind: fc.constant('pulse'), routine: fc.string() }),
  fc.record({ kind: fc.constant('reminder'), name: fc.string() }),
  fc.record({ kind: fc.constant('script'), name: fc.string(), status: fc.string() }),
);
const callId = fc.constantFrom('w1', 'w2');
const name = fc.constantFrom('Lyra', 'Orin');
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);

const reason = fc.record({
  code: fc.constantFrom('failed', 'silent', 'put-to-sleep', 'unnamed', 'cancelled'),
  message: anyText,
});
const mind = fc.record({
  kind: fc.constantFrom('rehearsal', 'anthropic'),
  leadModel: fc.string(),
  agentModel: fc.string(),
});
const usage = fc.record({
  model: fc.string(),
  inputTokens: fc.nat(),
  outputTokens: fc.nat(),
  cacheReadTokens: fc.nat(),
  cacheWriteTokens: fc.nat(),
});
const block = fc.oneof(
  fc.record({ kind: fc.constant('text'), text: anyText }),
  fc.record({
    kind: fc.constant('tool'),
    toolUseId: id,
    name: fc.string(),
    input: fc.jsonValue(),
    result: nullable(anyText),
    isError: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('call'),
    call: fc.constantFrom('wake', 'summon'),
    callId,
    seats: fc.array(fc.record({ agentId, position: anySeat, name: nullable(name) }), { maxLength: 3 }),
  }),
);
const seat = { agentId, position: anySeat };
const at = { time };

const fields = {
  'session-started': { ...at, sessionId, mind },
  'mind-changed': { ...at, sessionId, mind },
  'session-ended': { ...at, sessionId, reason: fc.constantFrom('ended', 'idle', 'shutdown', 'crash') },
  'call-started': {
    ...at,
    sessionId,
    callId,
    call: fc.constantFrom('wake', 'summon'),
    seats: fc.uniqueArray(fc.record({ ...seat, name: nullable(name) }), {
      maxLength: 3,
      selector: (each) => each.agentId,
    }),
  },
  'call-ended': { ...at, sessionId, callId, error: nullable(anyText) },
  'agent-awake': { ...at, ...seat, sessionId },
  'agent-asleep': { ...at, ...seat, sessionId, reason },
  'client-joined': { ...at, ...seat, sessionId, credentialId: id, client: name, readsInbox: fc.boolean() },
  'client-left': { ...at, agentId, sessionId, credentialId: id },
  'agent-born': {
    ...at,
    ...seat,
    sessionId,
    name,
    color: fc.string(),
    colorName: fc.string(),
    soul: anyText,
    bornAt: time,
  },
  'birth-ended': { ...at, ...seat, sessionId, reason },
  'agent-changed': {
    ...at,
    agentId,
    sessionId,
    change: fc.oneof(
      fc.record({ kind: fc.constant('rename'), name }),
      fc.record({ kind: fc.constant('soul'), individuationArtifact: anyText }),
    ),
  },
  'run-started': { ...at, runId, agentId, sessionId: fc.constant(null), cause },
  'run-ended': {
    ...at,
    runId,
    agentId,
    sessionId: fc.constant(null),
    outcome: fc.constantFrom('done', 'failed', 'stopped', 'timed-out', 'crashed'),
    reason: nullable(anyText),
    costMicroUsd: fc.nat(),
    estimated: fc.boolean(),
    usage: nullable(usage),
  },
  'answer-started': { ...at, messageId, agentId, sessionId: nullable(sessionId), runId },
  text: { messageId, text: anyText },
  tool: { messageId, block },
  message: {
    ...at,
    messageId,
    sessionId: nullable(sessionId),
    runId,
    agentId,
    author: fc.constantFrom('human', 'relay', 'lead', 'a'),
    role: fc.constantFrom('user', 'assistant'),
    blocks: fc.array(block, { maxLength: 3 }),
    status: fc.constantFrom('complete', 'stopped', 'interrupted', 'failed'),
    error: nullable(anyText),
    usage: nullable(usage),
    clientId: nullable(id),
    replaces: nullable(id),
    waiting: fc.boolean(),
  },
  'message-read': { ...at, messageId, agentId, sessionId: nullable(sessionId), runId },
  'pause-flag': { ...at, sessionId, agentId, paused: fc.boolean(), by: fc.constantFrom('human', 'a1', 'mentioned') },
  record: {
    ...at,
    record: fc.record({
      type: fc.constant('limits'),
      id: fc.constantFrom('household', 'agent "a1"'),
      value: fc.record({ agentId: nullable(agentId), config: fc.constant({ coordination: {} }) }),
    }),
  },
  changed: { ...at, what: fc.constantFrom(...CHANGES), agentId: nullable(agentId) },
} satisfies Record<EventKind, Record<string, fc.Arbitrary<unknown>>>;

export const EVENT_KINDS = eventSchema.options.map((option) => option.shape.kind.value);

/** Any event of this kind. The schema is asked, so that these cannot drift away from the wire. */
export function eventOf<K extends EventKind>(kind: K): fc.Arbitrary<EventOf<K>> {
  const isKind = (event: RoostEvent): event is EventOf<K> => event.kind === kind;
  const model: Record<string, fc.Arbitrary<unknown>> = { kind: fc.constant(kind), ...fields[kind] };
  return fc.record(model).map((draft) => {
    const event = eventSchema.parse(draft);
    if (!isKind(event)) throw new Error(`not a ${kind} event`);
    return event;
  });
}

export const anyEvent: fc.Arbitrary<RoostEvent> = fc.oneof(...EVENT_KINDS.map((kind) => eventOf(kind)));

/** A log: ids increase, with gaps where something was dropped. */
export const someHistory: fc.Arbitrary<StoredEvent[]> = fc
  .array(fc.tuple(anyEvent, fc.integer({ min: 1, max: 3 })), { maxLength: 30 })
  .map((steps) => {
    let last = 0;
    return steps.map(([event, step]) => ({ id: (last += step), event }));
  });
