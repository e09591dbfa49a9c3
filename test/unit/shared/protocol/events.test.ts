import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../../../src/shared/protocol/documents.ts';
import { isKnown } from '../../../../src/shared/protocol/documents/kinds.ts';
import { eventSchema, type EventKind } from '../../../../src/shared/protocol/events.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { anyEvent, EVENT_KINDS, eventOf } from './arbitraries.ts';

const STANDS_FOR: Record<EventKind, string | null> = {
  'session-started': 'session',
  'session-ended': 'session',
  'mind-changed': null,
  'agent-born': 'agent-identity',
  'agent-changed': 'agent-change',
  message: 'message',
  'message-read': 'message-read',
  'call-started': null,
  'call-ended': null,
  'agent-awake': null,
  'client-joined': null,
  'client-left': null,
  'agent-asleep': null,
  'birth-ended': null,
  // Of a run in no session; a session tells of its own.
  'run-started': 'run',
  'run-ended': 'run',
  'answer-started': null,
  text: null,
  tool: null,
  'pause-flag': null,
  record: 'limits',
  changed: null,
};
const eventId = fc.integer({ min: 1, max: 3_000_000 });

describe('an event', () => {
  it.each(EVENT_KINDS)('%s crosses the line as JSON and is read as it was written', (kind) => {
    fc.assert(
      fc.property(eventOf(kind), (event) => {
        const arrived: unknown = JSON.parse(JSON.stringify(event));
        // JSON has no -0.
        expect(JSON.stringify(eventSchema.parse(arrived))).toBe(JSON.stringify(event));
      }),
    );
  });

  it('refuses an event of an unknown kind or with a missing field, and names the field', () => {
    expect(eventSchema.safeParse({ kind: 'party', time: 1 }).error?.issues[0]?.path).toEqual(['kind']);
    expect(eventSchema.safeParse({ kind: 'text', messageId: 'm' }).error?.issues[0]?.path).toEqual(['text']);
    expect(
      eventSchema.safeParse({ kind: 'message-read', time: -1, messageId: 'm', agentId: 'a', sessionId: 's' }).error
        ?.issues[0]?.path,
    ).toEqual(['time']);
  });
});

describe('the documents of an event', () => {
  it.each(EVENT_KINDS)('%s: are what the ledger can hold, the same on every device', (kind) => {
    fc.assert(
      fc.property(eventOf(kind), eventId, (event, id) => {
        const docs = documentsOf({ id, event });
        expect(docs.map((doc) => doc.type)).toEqual(STANDS_FOR[kind] === null ? [] : [STANDS_FOR[kind]]);
        for (const doc of docs) {
          expect(isKnown(doc)).toBe(true);
          expect(parseDocument(doc)).toEqual(doc);
        }
        const elsewhere = eventSchema.parse(structuredClone(event));
        expect(documentsOf({ id, event: elsewhere })).toEqual(docs);
      }),
    );
  });

  it('gives different documents of an event different ids', () => {
    fc.assert(
      fc.property(anyEvent, anyEvent, eventId, (one, other, id) => {
        const [first] = documentsOf({ id, event: one });
        const [second] = documentsOf({ id: id + 1, event: other });
        if (!first || !second || first._id !== second._id) return;
        // Only the same message, session or agent, told of again, has the same document.
        expect(second.type).toBe(first.type);
        expect(second.type).not.toBe('agent-change');
      }),
      { numRuns: 1000 },
    );
  });

  it('carry a soul and a message word for word', () => {
    fc.assert(
      fc.property(eventOf('agent-born'), eventOf('message'), (born, message) => {
        expect(documentsOf({ id: 1, event: born })).toMatchObject([
          {
            _id: `agent-identity:${born.agentId}`,
            individuationArtifact: born.soul,
            bornAt: born.bornAt,
            position: born.position,
          },
        ]);
        const [doc] = documentsOf({ id: 2, event: message });
        expect(doc).toMatchObject({
          _id: `message:${message.messageId}`,
          blocks: message.blocks,
          status: message.status,
          replaces: message.replaces,
        });
        expect(doc?.['waiting']).toBe(message.waiting ? true : undefined);
      }),
    );
  });

  it('sort by time, and within a millisecond as the log does', () => {
    const read = (id: number, time: number) =>
      documentsOf({ id, event: { kind: 'message-read', time, messageId: `m${id}`, agentId: 'a', sessionId: 's' } });
    const stamps = [...read(9, 5), ...read(10, 5), ...read(3, 6)].map((doc) => doc.at);
    expect(stamps).toEqual([...stamps].sort());
  });
});
