import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventOf, StoredEvent } from '../../../../src/shared/protocol/events.ts';
import { createAckMark } from '../../../../src/shared/protocol/intake.ts';
import { someHistory } from './arbitraries.ts';

const started = (messageId: string): EventOf<'answer-started'> => ({
  kind: 'answer-started',
  time: 1,
  messageId,
  agentId: 'a',
  sessionId: 's',
});
const ended = (messageId: string): EventOf<'message'> => ({
  kind: 'message',
  time: 2,
  messageId,
  sessionId: 's',
  agentId: 'a',
  author: 'a',
  role: 'assistant',
  blocks: [],
  status: 'complete',
  error: null,
  usage: null,
  clientId: null,
  replaces: null,
  waiting: false,
});
const upTo = (events: readonly StoredEvent[]) => {
  const mark = createAckMark();
  for (const stored of events) mark.take(stored);
  return mark.upTo();
};

describe('what a browser may acknowledge', () => {
  it('acknowledges nothing before anything arrived', () => {
    expect(upTo([])).toBe(0);
  });

  it('stops just before an answer that is still being written, so that a reload gets it from its first word', () => {
    const log: StoredEvent[] = [
      { id: 1, event: started('m1') },
      { id: 2, event: { kind: 'text', messageId: 'm1', text: 'Hel' } },
      { id: 3, event: started('m2') },
      { id: 4, event: ended('m1') },
      { id: 5, event: { kind: 'text', messageId: 'm2', text: 'Hi' } },
      { id: 6, event: ended('m2') },
    ];
    expect(log.map((_, i) => upTo(log.slice(0, i + 1)))).toEqual([0, 0, 0, 2, 2, 6]);
  });

  it('never passes the first event of an open answer nor the last event, and is not moved by a repetition', () => {
    fc.assert(
      fc.property(someHistory, (log) => {
        const open = new Map<string, number>();
        for (const { id, event } of log) {
          if (event.kind === 'answer-started') open.set(event.messageId, id);
          if (event.kind === 'message') open.delete(event.messageId);
        }
        const last = log.at(-1)?.id ?? 0;
        expect(upTo(log)).toBe(Math.min(last, ...[...open.values()].map((id) => id - 1)));
        expect(upTo([...log, ...log])).toBe(upTo(log));
      }),
    );
  });
});
