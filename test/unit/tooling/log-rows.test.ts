import { describe, expect, it } from 'vitest';
import { listenFor, type LogOnPage, type LogRow } from '../../support/log-rows.ts';

const row = (key: string, by: LogRow['by'], words: string, done = true): LogRow => ({ key, by, words, done });
const log = (rows: readonly LogRow[], answering = false): LogOnPage => ({ drawn: true, answering, rows });

const GREETING = row('m1', 'agent', 'I am Lyra.');
const asked = (done = true) => row('c1', 'person', 'Who are you?', done);

describe('what answers a person', () => {
  it('skips earlier messages, however late they are drawn', () => {
    const answer = listenFor('Who are you?', log([]));
    expect(answer(log([GREETING]))).toBeNull();
    expect(answer(log([GREETING, asked(false)]))).toBeNull();
    expect(answer(log([GREETING, asked()]))).toBeNull();
    expect(answer(log([GREETING, asked(), row('m2', 'agent', 'The same.')]))).toBe('The same.');
  });

  it('waits for the end of an answer, and until nobody writes any more', () => {
    const answer = listenFor('Who are you?', log([GREETING]));
    expect(answer(log([GREETING, asked(), row('m2', 'agent', 'The', false)]))).toBeNull();
    expect(answer(log([GREETING, asked(), row('m2', 'agent', 'The same.')], true))).toBeNull();
    expect(answer(log([GREETING, asked(), row('m2', 'agent', '')]))).toBeNull();
    expect(answer(log([GREETING, asked(), row('m2', 'agent', 'The same.')]))).toBe('The same.');
  });

  it('comes after these words and not after the same words of an earlier time', () => {
    const before = [asked(), row('m2', 'agent', 'The same.')];
    const answer = listenFor('Who are you?', log(before));
    expect(answer(log(before))).toBeNull();
    expect(answer(log([...before, row('c2', 'person', 'Who  are you?')]))).toBeNull();
    expect(answer(log([...before, row('c2', 'person', 'Who  are you?'), row('m3', 'agent', 'Still.')]))).toBe('Still.');
  });

  it('skips messages of others to the agent', () => {
    const answer = listenFor('Who are you?', log([]));
    expect(answer(log([asked(), row('m2', 'other', 'The bridge holds.')]))).toBeNull();
  });

  it('finds an answer that is so long that the question is out of sight', () => {
    const answer = listenFor('Who are you?', log([GREETING]));
    expect(answer(log([GREETING, asked(), row('m2', 'agent', 'Long', false)]))).toBeNull();
    expect(answer(log([row('m2#1', 'agent', 'and long.')]))).toBe('and long.');
  });
});
