import { describe, expect, it } from 'vitest';
import { createEvents } from '../../../../../src/shared/domain/platform/events.ts';

describe('events', () => {
  it('reach everybody who listens, in the order of coming, until they stop', () => {
    const events = createEvents<{ said: [string, number]; over: [] }>();
    const heard: string[] = [];
    const stop = events.on('said', (word, times) => heard.push(`first ${word} ${times}`));
    events.on('said', (word) => heard.push(`second ${word}`));
    events.tell('said', 'hello', 2);
    events.tell('over');
    stop();
    events.tell('said', 'again', 1);
    expect(heard).toEqual(['first hello 2', 'second hello', 'second again']);
  });

  it("types each listener by its event's name", () => {
    const events = createEvents<{ said: [string] }>();
    // @ts-expect-error: a figure is no word
    events.tell('said', 1);
    // @ts-expect-error: nobody tells this
    events.on('burnt', () => undefined);
  });
});
