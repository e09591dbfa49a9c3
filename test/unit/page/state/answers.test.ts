import { expect, test } from 'vitest';
import type { RoostEvent } from '../../../../src/shared/protocol/events.ts';
import { textOf } from '../../../../src/shared/domain/text-of.ts';
import { createAnswers, openAnswerOf } from '../../../../src/page/state/answers.ts';
import { runningSession } from '../support/household.ts';

function opened() {
  const answers = createAnswers();
  const hear = (event: RoostEvent) => answers.hearEvent({ id: 1, event });
  hear({ kind: 'answer-started', time: 5, messageId: 'm', agentId: 'a', sessionId: 's' });
  return { answers, hear, of: (agentId: string) => openAnswerOf(answers.store.getState(), agentId) };
}
const tool = (result: string | null) => ({
  kind: 'tool' as const,
  toolUseId: 't',
  name: 'choose_name',
  input: {},
  result,
  isError: false,
});

test('words join, tools stand between them and are filled in when they answer', () => {
  const { hear, of } = opened();
  for (const text of ['One ', 'two']) hear({ kind: 'text', messageId: 'm', text });
  hear({ kind: 'tool', messageId: 'm', block: tool(null) });
  hear({ kind: 'text', messageId: 'm', text: 'three' });
  hear({ kind: 'tool', messageId: 'm', block: tool('Kept.') });
  expect(of('a')?.blocks).toEqual([{ kind: 'text', text: 'One two' }, tool('Kept.'), { kind: 'text', text: 'three' }]);
  expect(textOf(of('a')?.blocks ?? [])).toBe('One two\n\nthree');
});

test('an answer of one agent leaves the others’ entries as they are', () => {
  const { answers, hear, of } = opened();
  hear({ kind: 'answer-started', time: 5, messageId: 'n', agentId: 'b', sessionId: 's' });
  const before = of('b');
  hear({ kind: 'text', messageId: 'm', text: 'x' });
  expect(of('b')).toBe(before);
  answers.keepOnly({ ...runningSession(), answering: [{ messageId: 'n', agentId: 'b', sessionId: 's' }] });
  expect(of('a')).toBeUndefined();
  expect(of('b')).toBe(before);
});

test('words of an answer that is not known are passed over', () => {
  const { answers, hear } = opened();
  const before = answers.store.getState();
  hear({ kind: 'text', messageId: 'unknown', text: 'x' });
  expect(answers.store.getState()).toBe(before);
});
