import { expect, test } from 'vitest';
import {
  converse,
  isEcho,
  LISTENING,
  type Conversing,
  type VoiceEvent,
} from '../../../../../src/page/ui/voice/conversing.ts';

/** The state after these events, and what was done meanwhile. */
function run(events: readonly VoiceEvent[], from: Conversing = LISTENING) {
  let state = from;
  const acts: unknown[] = [];
  for (const event of events) {
    const step = converse(state, event);
    state = step.state;
    if (step.act) acts.push(step.act);
  }
  return { state, acts };
}

test('sends dictated words once after a pause, as one message, and nothing on silence', () => {
  expect(run([{ kind: 'pause' }])).toEqual({ state: LISTENING, acts: [] });
  const said = run([
    { kind: 'hearing', text: 'does' },
    { kind: 'heard', text: 'Does it' },
    { kind: 'heard', text: 'hold?' },
    { kind: 'pause' },
    { kind: 'pause' },
  ]);
  expect(said).toEqual({ state: { kind: 'waiting' }, acts: [{ kind: 'send', text: 'Does it hold?' }] });
});

test('the answer is read aloud, and then it listens again', () => {
  expect(run([{ kind: 'answered', text: 'It holds.' }, { kind: 'spoken' }], { kind: 'waiting' })).toEqual({
    state: LISTENING,
    acts: [{ kind: 'speak', text: 'It holds.' }],
  });
});

test('the person interrupts the reading, and the loudspeaker and a noise do not', () => {
  const speaking: Conversing = { kind: 'speaking', text: 'The northern pier holds well.' };
  expect(
    run(
      [
        { kind: 'hearing', text: 'northern pier holds' },
        { kind: 'hearing', text: 'hm' },
      ],
      speaking,
    ),
  ).toEqual({
    state: speaking,
    acts: [],
  });
  const interrupted = run(
    [
      { kind: 'hearing', text: 'wait a moment' },
      { kind: 'heard', text: 'Wait a moment' },
    ],
    speaking,
  );
  expect(interrupted).toEqual({ state: { kind: 'listening', heard: 'Wait a moment' }, acts: [{ kind: 'hush' }] });
  expect(isEcho('wait a moment', speaking.text)).toBe(false);
});

test('an answer that comes while the person speaks is not read over them', () => {
  const state: Conversing = { kind: 'listening', heard: 'And the' };
  expect(run([{ kind: 'answered', text: 'It holds.' }], state)).toEqual({ state, acts: [] });
});
