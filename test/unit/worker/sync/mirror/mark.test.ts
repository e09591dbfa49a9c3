import { expect, test } from 'vitest';
import { deviceKeys, newHousehold, newId, renewed } from '../../../../../src/worker/sync/crypto/index.ts';
import {
  betterMark,
  createFailures,
  MIRROR,
  openFiles,
  readMark,
  writeMark,
  type Mark,
} from '../../../../../src/worker/sync/mirror/index.ts';
import { deviceRecord } from '../../../../../src/worker/sync/data-worker/records.ts';
import { createMarkWriter, createMarkStore } from '../../../../../src/worker/sync/data-worker/mark-writer.ts';
import { createVirtualTime } from '../../../../support/virtual-time.ts';
import { memoryFiles } from './support.ts';

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const keys = newHousehold(random);
const mark: Mark = {
  membership: {
    ...keys,
    roll: ['d'],
    deviceId: newId(random),
    seed: random(32),
    rotations: [],
    recovery: { id: 'r', boxKey: 'k', box: 'b', by: 'd', time: 3 },
    alone: true,
    relay: true,
    removed: false,
  },
  devices: [deviceRecord(keys, deviceKeys(random(32)), { name: 'Laptop', addedAt: 1, time: 2 })],
  team: { human: 'Robin', lead: 'Julian', agents: 8, documents: 13_435 },
  writtenAt: 1_000,
};

// SPEC 8.1, 8.2
test('a mark is read as it was written', () => {
  expect(readMark(writeMark(mark))).toEqual(mark);
});

// SPEC 8.3
test('refuses a mark that was cut or changed anywhere', () => {
  const text = writeMark(mark);
  for (let at = 0; at < text.length; at += 7) {
    expect(readMark(text.slice(0, at))).toBeNull();
    expect(readMark(`${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`)).toBeNull();
  }
  for (const none of [null, '', ' ', 'null', '{}']) expect(readMark(none)).toBeNull();
});

// SPEC 8.3
test('prefers the mark with more keys, then the later one, and never a damaged one', () => {
  const newer: Mark = { ...mark, membership: { ...mark.membership, ...renewed(keys, random) }, writtenAt: 500 };
  const later: Mark = { ...mark, writtenAt: 2_000 };
  expect(betterMark(mark, newer)).toBe(newer);
  expect(betterMark(newer, later)).toBe(newer);
  expect(betterMark(mark, later)).toBe(later);
  expect(betterMark(readMark('broken'), mark)).toBe(mark);
  expect(betterMark(mark, null)).toBe(mark);
});

test('a database that fails is begun anew once before it is emptied, and not for ever', async () => {
  const files = memoryFiles();
  let inLocalStorage: string | null = null;
  const failures = createFailures({ files, offered: () => Promise.resolve(inLocalStorage), now: () => 5_000 });
  // Without a mark nobody would come back: it is left as it is.
  expect(await failures.note()).toBe(false);
  inLocalStorage = writeMark(mark);
  expect(
    await createFailures({
      files: memoryFiles(),
      offered: () => Promise.resolve(inLocalStorage),
      now: () => 5_000,
    }).note(),
  ).toBe(true);
  inLocalStorage = null;
  await files.write(MIRROR.markFile, new TextEncoder().encode(writeMark(mark)));
  const seen = [];
  for (let start = 0; start < 6; start++)
    seen.push([await failures.note(), await failures.isToBeEmptied(), await failures.isToBeEmptied()]);
  expect(seen).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, false],
    [true, true, false],
    [false, false, false],
    [false, false, false],
  ]);
});

test('a file system that opens, and then answers nothing that is asked of it, keeps the page from nothing', async () => {
  const time = createVirtualTime();
  const never = () => new Promise<never>(() => undefined);
  let answers = true;
  const writable = { write: () => Promise.resolve(), close: () => Promise.resolve() };
  const file = { createWritable: () => Promise.resolve(writable), getFile: never };
  const directory = {
    getDirectoryHandle: () => Promise.resolve(directory),
    getFileHandle: () => (answers ? Promise.resolve(file) : never()),
  };
  const storage = { getDirectory: () => Promise.resolve(directory) };
  const files = await openFiles(storage as unknown as StorageManager, time.after);
  answers = false;
  const failures = createFailures({ files, offered: () => Promise.resolve(null), now: time.now });
  const store = createMarkStore(files, () => undefined);
  const opened = Promise.all([failures.isToBeEmptied(), store.load()]);
  await time.pass(MIRROR.answerWithin);
  expect([await opened, store.text()]).toEqual([[false, undefined], null]);
});

test('a mark that a full disk refuses is written when there is room, and no crash', async () => {
  const time = createVirtualTime();
  const files = memoryFiles();
  const crashes: unknown[] = [];
  let full = true;
  const write: typeof files.write = (name, bytes) =>
    full ? Promise.reject(new DOMException('No room.', 'QuotaExceededError')) : files.write(name, bytes);
  const store = createMarkStore({ ...files, write }, () => undefined);
  const keeper = createMarkWriter({
    store,
    timers: time,
    now: time.now,
    facts: () => Promise.resolve(mark),
    inTurn: (run) => run(),
    onCrash: (error) => crashes.push(error),
  });
  keeper.wake();
  await time.pass(MIRROR.markEvery * 2);
  expect(store.text()).toBeNull();
  full = false;
  await time.pass(MIRROR.markEvery * 2);
  expect(readMark(new TextDecoder().decode((await files.read(MIRROR.markFile)) ?? undefined))?.team).toEqual(mark.team);
  expect(crashes).toEqual([]);
});
