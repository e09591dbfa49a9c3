/** How words of an answer become events. */
import { expect, it } from 'vitest';
import { createAnswerWriter } from '../../../../server/agents/runs/answer.ts';
import type { AgentId, MessageId, RunId } from '../../../../src/shared/domain/ids.ts';
import type { RoostEvent } from '../../../../src/shared/protocol/events.ts';

function writing() {
  const kinds: string[] = [];
  const texts: string[] = [];
  const writer = createAnswerWriter({
    messageId: 'm' as MessageId,
    agentId: 'a' as AgentId,
    author: 'a',
    sessionId: null,
    runId: 'r' as RunId,
    record(events: readonly RoostEvent[]) {
      for (const event of events) {
        kinds.push(event.kind);
        if (event.kind === 'text') texts.push(event.text);
      }
      return Promise.resolve(true);
    },
    onWriteFailed: () => undefined,
    now: () => 0,
    onFirstWords: () => [{ kind: 'agent-awake', time: 0, agentId: 'a', position: 1, sessionId: 's' }],
  });
  return { writer, texts, kinds };
}

it('writes words as they arrive, behind the start that the first of them opens', () => {
  const { writer, texts, kinds } = writing();
  writer.text(' \n');
  for (const word of ['One ', 'two ', '', 'three']) writer.text(word);
  expect(texts).toEqual([' \n', 'One ', 'two ', 'three']);
  expect(kinds).toEqual(['answer-started', 'text', 'agent-awake', 'text', 'text', 'text']);
});

it('holds back half a letter, and writes a call after the words before it', async () => {
  const { writer, texts } = writing();
  const [first = '', second = ''] = '🦉'.split('');
  writer.text('An owl ');
  writer.text(first);
  expect(texts).toEqual(['An owl ']);
  writer.text(`${second}${first}`);
  expect(texts).toEqual(['An owl ', '🦉']);
  writer.text(`${second} sees.`);
  writer.text(first);
  writer.tool({ toolUseId: 't', name: 'look', input: {} })({ text: '', isError: false });
  expect(texts).toEqual(['An owl ', '🦉', '🦉 sees.', first]);
  writer.text('It flies.');
  await writer.finish({ status: 'complete', error: null, usage: null }, []);
  expect(texts.at(-1)).toBe('It flies.');
});
