import { describe, expect, it } from 'vitest';
import {
  type Arrival,
  type ArrivalEvent,
  called,
  type EndedAnswer,
  isComing,
  transition,
} from '../../../../../server/agents/session/arrival.ts';
import type { AsleepReason } from '../../../../../src/shared/protocol/events.ts';

const SILENCE: AsleepReason = { code: 'silent', message: 'It said nothing for 5 s.' };
const FAILURE: AsleepReason = { code: 'failed', message: 'The server is overloaded.' };
const CANCELLED: AsleepReason = { code: 'cancelled', message: 'You gave up this egg.' };
const RULES = { human: 'Noa', silence: SILENCE, namesAsked: 2 };

/** An answer that its agent ended, with these changes. */
const answered = (changes: Partial<EndedAnswer> = {}): ArrivalEvent => ({
  kind: 'answer',
  words: [],
  isEnough: true,
  isClosing: false,
  isToolless: false,
  failure: null,
  isPassing: false,
  ...changes,
});
const failed = answered({ isEnough: false, failure: FAILURE, isPassing: true });
const said = (...words: string[]) => answered({ words });

/** The state after these events, and the effect of each. */
function after(start: Arrival, ...events: readonly ArrivalEvent[]) {
  let arrival = start;
  const effects = events.map((event) => {
    const step = transition(arrival, event, RULES);
    arrival = step.arrival;
    return step.effect;
  });
  return { arrival, effects, last: effects.at(-1) };
}
const ask: ArrivalEvent = { kind: 'ask' };
const speak: ArrivalEvent = { kind: 'speak' };
const timeOut: ArrivalEvent = { kind: 'time-out' };
const leave: ArrivalEvent = { kind: 'leave' };
const name: ArrivalEvent = { kind: 'name', name: 'Wren' };
const giveUp: ArrivalEvent = { kind: 'give-up', reason: CANCELLED };

describe('An agent that is woken', () => {
  const woken = called(false);

  it('arrives with its first word', () => {
    const { arrival, effects } = after(woken, ask, speak);
    expect(effects).toEqual([null, 'arrive']);
    expect(arrival.state).toBe('awake');
  });

  it('asks a woken agent again after a failure that may pass, and lets it leave after the second', () => {
    const { arrival, effects } = after(woken, ask, failed, ask, failed);
    expect(effects).toEqual([null, 'retry', null, 'leave']);
    expect(arrival).toMatchObject({ state: 'leaving', givenUp: FAILURE });
  });

  it('asks a woken agent again after silence, and says why it leaves', () => {
    const silent = answered({ isEnough: false, failure: FAILURE });
    const { arrival, effects } = after(woken, ask, timeOut, silent, ask, timeOut, silent);
    expect(effects).toEqual([null, null, 'retry', null, null, 'leave']);
    expect(arrival.givenUp).toEqual(SILENCE);
  });

  it('leaves at once after a failure that stays', () => {
    expect(after(woken, ask, answered({ failure: FAILURE })).last).toBe('leave');
  });

  it('lets an agent that was given up leave for that reason', () => {
    const { arrival, effects } = after(woken, ask, giveUp, speak, failed);
    expect(effects).toEqual([null, null, null, 'leave']);
    expect(arrival.givenUp).toEqual(CANCELLED);
  });

  it('stays where it is when the session closes', () => {
    expect(after(woken, ask, answered({ isClosing: true })).arrival.state).toBe('answering');
  });
});

describe('An egg', () => {
  const egg = called(true);

  it('hatches an egg when it has a name and a soul, not with its first word', () => {
    const { arrival, effects } = after(egg, ask, speak, name, said('I keep the door.'));
    expect(effects).toEqual([null, null, null, 'arrive']);
    expect(arrival).toMatchObject({ state: 'awake', egg: { name: 'Wren', soul: ['I keep the door.'] } });
  });

  it('makes all that an egg wrote its soul, in order', () => {
    const { arrival } = after(egg, ask, said('First.'), { kind: 'write', text: 'Second.' }, name, said('Third.'));
    expect(arrival.egg?.soul).toEqual(['First.', 'Second.', 'Third.']);
  });

  it('asks an egg with a name and no words for them once', () => {
    expect(after(egg, ask, name, answered(), answered()).effects).toEqual([null, null, 'ask-soul', 'leave']);
  });

  it('whose model uses no tools is asked for its name in words, and only so often', () => {
    const toolless = answered({ words: ['I am new here, and I think about many things.'], isToolless: true });
    const named = answered({ words: ['Wren'], isToolless: true });
    const born = after(egg, ask, toolless, named);
    expect(born.effects).toEqual([null, 'ask-name', 'arrive']);
    expect(born.arrival.egg).toMatchObject({ name: 'Wren', soul: ['I am new here, and I think about many things.'] });
    const nameless = after(egg, ask, toolless, toolless, toolless);
    expect(nameless.effects).toEqual([null, 'ask-name', 'ask-name', 'leave']);
    expect(nameless.arrival.givenUp?.code).toBe('unnamed');
  });

  it('forgets its first try when it is asked a second time', () => {
    const { arrival, effects } = after(egg, ask, name, { ...failed, words: ['I am'] } as ArrivalEvent);
    expect(effects.at(-1)).toBe('retry');
    expect(arrival).toMatchObject({ state: 'retrying', egg: { name: null, soul: [] } });
  });

  it('does not ask an egg that has a soul a second time', () => {
    expect(after(egg, ask, said('I am new.'), failed).last).toBe('leave');
  });

  it('hatches an egg with name and soul although the session closes', () => {
    const closing = answered({ words: ['I am Wren.'], isClosing: true });
    expect(after(egg, ask, name, closing).last).toBe('arrive');
    expect(after(egg, ask, closing).last).toBe(null);
  });

  it('lets an egg that was given up leave with its answer', () => {
    expect(after(egg, ask, name, giveUp, said('I am Wren.')).last).toBe('leave');
  });
});

it('An agent that is awake or leaving is moved by nothing but its leave', () => {
  const awake = after(called(false), ask, speak).arrival;
  expect(isComing(awake)).toBe(false);
  expect(after(awake, ask, timeOut, giveUp, failed)).toMatchObject({
    arrival: awake,
    effects: [null, null, null, null],
  });
  const leaving = after(awake, leave).arrival;
  expect(leaving.state).toBe('leaving');
  expect(after(leaving, ask, speak).arrival).toBe(leaving);
});
