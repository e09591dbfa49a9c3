import { expect, test } from 'vitest';
import {
  foldReadMarks,
  isNews,
  newInThread,
  readMarkOf,
  readMarkSetting,
  readUpTo,
} from '../../../../src/shared/domain/read-marks.ts';
import { parseStamp } from '../../../../src/shared/domain/stamp.ts';
import { slotOf, wins } from '../../../../src/shared/protocol/documents/kinds.ts';
import { settingDoc, stampOf } from '../../../support/documents.ts';

const { key } = readMarkSetting({ kind: 'conversation', agentId: 'a1', at: '' });
const { key: since } = readMarkSetting({ kind: 'since', at: '' });
const { key: thread } = readMarkSetting({ kind: 'thread', threadId: 't1', sequence: 1 });

/** Every order of these. */
const orders = <T>(all: readonly T[]): T[][] =>
  all.length < 2
    ? [[...all]]
    : all.flatMap((one, i) => orders(all.filter((_other, j) => j !== i)).map((rest) => [one, ...rest]));

test('a mark never moves back, and messages are new from the earliest moment that was set, in whatever order they are heard of', () => {
  // The last that was written is not the furthest.
  const docs = [
    settingDoc(10, key, stampOf(3)),
    settingDoc(11, key, stampOf(7)),
    settingDoc(12, key, stampOf(5)),
    settingDoc(13, since, stampOf(2)),
    settingDoc(14, since, stampOf(4)),
  ];
  for (const order of orders(docs)) {
    const marks = foldReadMarks(order);
    expect(readUpTo(marks, 'a1')).toBe(stampOf(7));
    expect(readUpTo(marks, 'a2')).toBe(stampOf(2));
    // What holds in the ledger is the same.
    for (const slot of [key, since]) {
      const holds = order
        .filter((doc) => slotOf(doc) === `setting ${slot}`)
        .reduce((held, doc) => (wins(doc, held) ? doc : held));
      expect(holds.value).toBe(slot === key ? stampOf(7) : stampOf(2));
    }
  }
});

test('a thread’s mark is the furthest place, and one without a mark that was quiet before messages began to be new is history', () => {
  const docs = [
    settingDoc(15, thread, 30),
    settingDoc(16, thread, 41),
    settingDoc(17, thread, 7),
    settingDoc(18, since, stampOf(500)),
  ];
  const t1 = { threadId: 't1', messages: 44, lastTime: 0 };
  for (const order of orders(docs)) {
    const marks = foldReadMarks(order);
    expect(newInThread(marks, t1)).toBe(3);
    expect(newInThread(marks, { ...t1, messages: 40 })).toBe(0);
    const holds = order
      .filter((doc) => slotOf(doc) === `setting ${thread}`)
      .reduce((held, doc) => (wins(doc, held) ? doc : held));
    expect(holds.value).toBe(41);
    const began = parseStamp(stampOf(500))?.time ?? NaN;
    expect(newInThread(marks, { threadId: 't2', messages: 9, lastTime: began - 1 })).toBe(0);
    expect(newInThread(marks, { threadId: 't2', messages: 9, lastTime: began + 1 })).toBe(9);
  }
  expect(newInThread(foldReadMarks([]), { threadId: 't2', messages: 9, lastTime: Infinity })).toBe(0);
  for (const value of [0, -1, 1.5, '7', stampOf(1), null]) expect(readMarkOf({ key: thread, value })).toBeNull();
});

test('knows nothing without a mark, and ignores an invalid one', () => {
  expect(readUpTo(foldReadMarks([]), 'a1')).toBeNull();
  for (const value of [7, '', 'yesterday', null, { at: stampOf(1) }]) expect(readMarkOf({ key, value })).toBeNull();
  for (const other of ['read:', 'humanName', 'reader:a1'])
    expect(readMarkOf({ key: other, value: stampOf(1) })).toBeNull();
});

test('counts only messages of others as news', () => {
  const said = { role: 'assistant', author: 'a1', error: null };
  expect(isNews(said)).toBe(true);
  expect(isNews({ ...said, role: 'user', author: 'human' })).toBe(false);
  expect(isNews({ ...said, role: 'user', author: 'relay' })).toBe(false);
  // A greeting; and one that failed, which somebody may have to do something about.
  expect(isNews({ ...said, unasked: true })).toBe(false);
  expect(isNews({ ...said, unasked: true, error: 'The model refused.' })).toBe(true);
});
