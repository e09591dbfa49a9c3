import { expect, test } from 'vitest';
import type { Entry } from '../../../../../src/shared/protocol/sync/page.ts';
import { createSealedLog, MIRROR, type Files, type SealedLog } from '../../../../../src/worker/sync/mirror/index.ts';
import { decodeFrames, encodeFrames } from '../../../../../src/worker/sync/mirror/log.ts';
import { entryOf, memoryFiles, WRITER, type MemoryFiles } from './support.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_none, i) => from + i);
const all = range(1, 101).map((counter) => entryOf(counter));
const FRAME = encodeFrames([entryOf(1)]).length;
const countersOf = (entries: readonly Entry[]) => entries.map(({ counter }) => counter);

function logOn(files: Files) {
  const told: { trouble: unknown[]; lacking: number } = { trouble: [], lacking: 0 };
  let later: (() => void)[] = [];
  const log = createSealedLog({
    files,
    after(_ms, run) {
      later.push(run);
      return () => (later = later.filter((one) => one !== run));
    },
    onTrouble: (error) => told.trouble.push(error),
    onLacking: () => (told.lacking += 1),
  });
  return { log, told, wait: () => later.splice(0).forEach((run) => run()) };
}
async function readAll(log: SealedLog): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  await log.read((some) => {
    found.push(...some);
    return Promise.resolve();
  });
  return found;
}
async function filled(entries: readonly Entry[] = all): Promise<MemoryFiles> {
  const files = memoryFiles();
  const { log } = logOn(files);
  log.add(entries);
  await log.flush();
  return files;
}

const segmentsOf = (files: MemoryFiles) => [...files.held.keys()].filter((name) => name.endsWith(MIRROR.segmentSuffix));
const bytesOf = (files: MemoryFiles) =>
  segmentsOf(files).reduce((sum, name) => sum + (files.held.get(name)?.length ?? 0), 0);

// SPEC 8.4
test('frames give back what was framed, byte for byte', () => {
  expect(decodeFrames(encodeFrames(all))).toEqual({ entries: all, damaged: 0 });
});

// SPEC 8.5
test('a flipped byte anywhere costs the one entry that it lies in', () => {
  const bytes = encodeFrames(all.slice(0, 5));
  for (let at = 0; at < bytes.length; at += 3) {
    const flipped = bytes.slice();
    flipped[at] = (flipped[at] ?? 0) ^ 0xff;
    const { entries } = decodeFrames(flipped);
    expect(countersOf(entries)).toEqual([1, 2, 3, 4, 5].filter((counter) => counter !== Math.floor(at / FRAME) + 1));
  }
});

// SPEC 8.5
test('a cut costs the entry that it goes through, and a hole what lay in it', () => {
  const bytes = encodeFrames(all);
  for (let at = 0; at < bytes.length; at += 397)
    expect(countersOf(decodeFrames(bytes.slice(0, at)).entries)).toEqual(range(1, Math.floor(at / FRAME) + 1));
  const holed = bytes.slice();
  holed.fill(0, FRAME * 10 + 5, FRAME * 20 + 5);
  expect(countersOf(decodeFrames(holed).entries)).toEqual([...range(1, 11), ...range(22, 101)]);
});

// SPEC 8.4
test('reads at the next start what was written, from segments of a bounded size', async () => {
  const big = range(1, 41).map((counter) => entryOf(counter, 30_000));
  const files = await filled(big);
  expect(files.held.size).toBeGreaterThan(3);
  for (const { length } of files.held.values()) expect(length).toBeLessThan(MIRROR.segmentBytes + 40_000);
  const { log } = logOn(files);
  expect(countersOf(await readAll(log))).toEqual(range(1, 41));
  expect([...log.have()]).toEqual([[WRITER, [[1, 40]]]]);
});

test('a lost segment costs what lay in it, and writing goes on behind a torn one', async () => {
  const big = range(1, 41).map((counter) => entryOf(counter, 30_000));
  const files = await filled(big);
  const [first = ''] = segmentsOf(files);
  files.held.delete(first);
  const last = segmentsOf(files).at(-1) ?? '';
  files.held.set(last, files.held.get(last)?.slice(0, -10) ?? new Uint8Array());
  const { log } = logOn(files);
  const found = countersOf(await readAll(log));
  expect(found.at(-1)).toBe(39);
  log.add([entryOf(41)]);
  await log.flush();
  expect(countersOf(await readAll(logOn(files).log))).toEqual([...found, 41]);
});

test('a full disk stops nothing: it is said, nothing is held in memory, and what is lacking is asked for again', async () => {
  const files = memoryFiles();
  const { log, told, wait } = logOn(files);
  log.add(all.slice(0, 10));
  await log.flush();
  files.full = true;
  log.add(all.slice(10));
  await log.flush();
  expect(told.trouble).toHaveLength(1);
  expect([...log.have()]).toEqual([[WRITER, [[1, 10]]]]);
  wait();
  expect(told.lacking).toBe(1);
  files.full = false;
  log.add(all.slice(10));
  await log.flush();
  expect(told.trouble.at(-1)).toBeNull();
  expect(await readAll(logOn(files).log)).toEqual(all);
});

// SPEC 8.6
test('removes replaced and deleted entries from all files', async () => {
  const files = await filled();
  const { log } = logOn(files);
  const other = new Uint8Array(200).fill(9);
  await log.replace([
    { writer: WRITER, counter: 5, sealed: other },
    { writer: WRITER, counter: 6, sealed: null },
  ]);
  const found = await readAll(logOn(files).log);
  expect(found.find(({ counter }) => counter === 5)?.sealed).toEqual(other);
  expect(countersOf(found)).toEqual(range(1, 101).filter((counter) => counter !== 6));
  const bytes = Buffer.concat([...files.held.values()]);
  expect(bytes.includes(Buffer.from(entryOf(5).sealed))).toBe(false);
  expect(bytes.includes(Buffer.from(entryOf(6).sealed))).toBe(false);
});

test('does not write again what was just read', async () => {
  const files = await filled();
  const before = bytesOf(files);
  const { log } = logOn(files);
  log.add(await readAll(log));
  await log.flush();
  expect(bytesOf(files)).toBe(before);
});

const MANY = range(1, 41).map((counter) => entryOf(counter, 30_000));
/** A start on these files: the segments that it reads, and the counters that it then knows of. */
async function startOn(files: MemoryFiles, isHere: (() => boolean) | null) {
  const readNames: string[] = [];
  const { log } = logOn({
    ...files,
    read(name) {
      if (name.endsWith(MIRROR.segmentSuffix)) readNames.push(name);
      return files.read(name);
    },
  });
  await log.read(() => Promise.resolve(), isHere ? { isHere } : {});
  return { readNames, have: log.have().get(WRITER) };
}

// SPEC 8.7
test('a start that lacks nothing reads no full segment, however many there are, and knows what they hold', async () => {
  const files = await filled(MANY);
  expect(segmentsOf(files).length).toBeGreaterThan(4);
  const { readNames, have } = await startOn(files, () => true);
  expect(readNames).toEqual(segmentsOf(files).slice(-1));
  expect(have).toEqual([[1, 40]]);
});

// SPEC 8.8
test('a start that lacks something, or waits for everything, reads them all', async () => {
  const files = await filled(MANY);
  expect((await startOn(files, () => false)).readNames).toEqual(segmentsOf(files));
  expect((await startOn(files, null)).readNames).toEqual(segmentsOf(files));
});

// SPEC 8.8
test('a segment of another length is read, and one that is gone is not believed in', async () => {
  const files = await filled(MANY);
  const [first = '', second = ''] = segmentsOf(files);
  files.held.set(first, files.held.get(first)?.slice(0, 70_000) ?? new Uint8Array());
  files.held.delete(second);
  const { readNames, have } = await startOn(files, () => true);
  expect(readNames[0]).toBe(first);
  expect(readNames).toHaveLength(2);
  const lost = decodeFrames((await filled(MANY)).held.get(second) ?? new Uint8Array()).entries.length;
  expect(have?.reduce((sum, [from, to]) => sum + to - from + 1, 0)).toBeLessThan(40 - lost);
});

// SPEC 8.7
test('reads every segment at one start of many, and counts damaged ones as missing from then on', async () => {
  const files = await filled(MANY);
  const [first = ''] = segmentsOf(files);
  const bytes = files.held.get(first);
  bytes?.fill(0, 40_000, 41_000);
  const seen = new Set<string>();
  let have: Awaited<ReturnType<typeof startOn>>['have'];
  for (let start = 0; start < MIRROR.rereadEvery; start++) {
    const now = await startOn(files, () => true);
    for (const name of now.readNames) seen.add(name);
    have = now.have;
  }
  expect([...seen].sort()).toEqual(segmentsOf(files));
  expect(have?.[0]).toEqual([1, 1]);
});

test('reads every segment again when the table of contents is damaged', async () => {
  const files = await filled(MANY);
  files.held.set(MIRROR.contentsFile, new TextEncoder().encode('{"starts":'));
  expect((await startOn(files, () => true)).readNames).toEqual(segmentsOf(files));
  expect((await startOn(files, () => true)).readNames).toEqual(segmentsOf(files).slice(-1));
});
