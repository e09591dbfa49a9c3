/** How words of an answer become events: soon, and not one for each. */
import { expect, it } from 'vitest';
import { createAnswerWriter } from '../../server/runs/answer-writer.ts';
import type { AgentId, MessageId, RunId } from '../../src/domain/ids.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import { createManualTimers } from '../support/manual-timers.ts';

const GATHER_MS = 30;

function writing() {
  const timers = createManualTimers();
  const texts: string[] = [];
  const writer = createAnswerWriter({
    messageId: 'm' as MessageId,
    agentId: 'a' as AgentId,
    author: 'a',
    sessionId: null,
    runId: 'r' as RunId,
    record(events: readonly RoostEvent[]) {
      for (const event of events) if (event.kind === 'text') texts.push(event.text);
      return Promise.resolve();
    },
    now: () => 0,
    timers,
    textBatchMs: GATHER_MS,
    onFirstWords: () => [],
  });
  return { writer, texts, timers };
}

it('a word that comes after a pause is written at once, those that come close upon it together', () => {
  const { writer, texts, timers } = writing();
  writer.text('One ');
  expect(texts).toEqual(['One ']);
  timers.advance(GATHER_MS);
  writer.text('two ');
  expect(texts).toEqual(['One ', 'two ']);
  for (const word of ['three ', 'four ', 'five ']) writer.text(word);
  expect(texts).toEqual(['One ', 'two ']);
  timers.advance(GATHER_MS);
  expect(texts).toEqual(['One ', 'two ', 'three four five ']);
  // Nothing runs while nothing is said.
  timers.advance(GATHER_MS);
  expect(timers.waiting()).toEqual([]);
});

it('a stream of letters is some thirty events a second, however fast it comes', () => {
  const { writer, texts, timers } = writing();
  for (let ms = 0; ms < 1_000; ms++) {
    writer.text('x');
    timers.advance(1);
  }
  expect(texts.length).toBeLessThanOrEqual(Math.ceil(1_000 / GATHER_MS) + 1);
  timers.advance(GATHER_MS);
  expect(texts.join('')).toHaveLength(1_000);
});

it('half of a letter waits for the other, and a call of a tool comes after what was said before it', async () => {
  const { writer, texts, timers } = writing();
  const [first = '', second = ''] = '🦉'.split('');
  writer.text('An owl ');
  timers.advance(GATHER_MS);
  writer.text(first);
  timers.advance(GATHER_MS);
  expect(texts).toEqual(['An owl ']);
  expect(timers.waiting()).toEqual([]);
  writer.text(second);
  expect(texts).toEqual(['An owl ', '🦉']);
  writer.text('sees.');
  writer.tool({ toolUseId: 't', name: 'look', input: {} })('', false);
  expect(texts).toEqual(['An owl ', '🦉', 'sees.']);
  writer.text('It flies.');
  writer.text(' Away.');
  await writer.finish({ status: 'complete', error: null, usage: null }, []);
  expect(texts.join('')).toBe('An owl 🦉sees.It flies. Away.');
});
