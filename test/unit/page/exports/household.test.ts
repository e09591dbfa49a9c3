import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readHousehold } from '../../../../src/page/exports/household/read.ts';
import { fileKeyOf } from '../../../../src/page/exports/household/write.ts';
import { EXPORT_FORMAT, ExportError, createExports, type ExportProgress } from '../../../../src/page/exports/index.ts';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import {
  changeDoc,
  identityDoc,
  messageDoc,
  queuedDoc,
  readDoc,
  sessionEnd,
  sessionStart,
  settingDoc,
} from '../../../support/documents.ts';
import { exportsHere, bytesOf, EXPORTED_AT, exportOf, importInto, memoryLedger, memorySink, open } from './support.ts';

/**
 * Stretching a passphrase takes a second, which is what it is for. Only the test of the format, and
 * those at the real page, take that long: what the others are about is the same for any factor.
 */
const REAL_FACTOR = EXPORT_FORMAT.scryptLogN;
const stretchBy = (scryptLogN: number) => void Object.assign(EXPORT_FORMAT, { scryptLogN });
beforeEach(() => stretchBy(10));
afterEach(() => stretchBy(REAL_FACTOR));

const range = (n: number) => Array.from({ length: n }, (_, i) => i);
const HOUSE: Doc[] = [
  identityDoc(1, 'lead', 4, ''),
  identityDoc(2, 'a1', 0, 'I am the first.'),
  identityDoc(3, 'a2', 1, 'I am the second.'),
  changeDoc(4, 'a1', { kind: 'rename', name: 'Lyra' }),
  settingDoc(5, 'leadName', 'Juno'),
  sessionStart(6, 's1'),
  ...range(10).map((n) => messageDoc(10 + n, { agentId: n % 2 ? 'a1' : 'a2' })),
  readDoc(30, 'm11'),
  queuedDoc(31, 'a1'),
  sessionEnd(32, 's1'),
  { _id: 'routine:1', type: 'routine', schema: 3, at: messageDoc(33).at, agentId: 'a1', when: { every: 'morning' } },
];
/** Any UTF-16 there is: NUL, controls, halves of pairs, marks of order. */
const weird = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 40 }),
  fc.constantFrom(
    '\ud800',
    '\udfff\ud800',
    '\0',
    '\ufeff\u2028\u2029\r\n',
    '"\\\n',
    '{"roost":"end"}',
    '𝔘🐓',
    '</soul>',
  ),
);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const anyDocument = (n: number): fc.Arbitrary<Doc> =>
  fc.oneof(
    weird.map((text) => messageDoc(n, { blocks: [{ kind: 'text', text }] })),
    weird.map((soul) => identityDoc(n, `a${n}`, n % 4, soul)),
    weird.map((value) => settingDoc(n, 'humanName', value)),
    fc.record({ value: fc.jsonValue(), text: weird, key: weird }).map(({ value, text, key }) => ({
      ...messageDoc(n),
      _id: `later:${n}`,
      type: 'later',
      [`x${key}`]: text,
      value: plain(value),
    })),
  );
const anyHouse = fc
  .array(fc.nat(), { maxLength: 30 })
  .chain((seeds) => fc.tuple(...seeds.map((_, i) => anyDocument(i + 1))));

const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ExportError))
    throw new Error(`expected an ExportError, got ${String(error)}`, { cause: error });
  return error;
};
const kindOf = async (work: Promise<unknown>) => (await failure(work)).kind;
const linesOf = async (file: Blob) =>
  gunzipSync(await bytesOf(file))
    .toString('utf8')
    .split('\n');
const repack = (lines: readonly string[]) => new Blob([new Uint8Array(gzipSync(lines.join('\n')))]);

describe('A copy of the household', () => {
  it('gives back the same documents, whatever text is in them', async () => {
    await fc.assert(
      fc.asyncProperty(anyHouse, async (docs) => {
        const ledger = memoryLedger();
        await importInto(ledger, await exportOf(docs));
        expect([...ledger.documents.values()].map((doc) => JSON.stringify(doc)).sort()).toEqual(
          docs.map((doc) => JSON.stringify(doc)).sort(),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('gives them back from under a passphrase too', async () => {
    const docs = [...HOUSE, messageDoc(99, { blocks: [{ kind: 'text', text: '\ud800 \0 half' }] })];
    const file = await exportOf(docs, 'corr\u00e9ct horse \ud83d\udc0e');
    const ledger = memoryLedger();
    await importInto(ledger, file, 'corre\u0301ct horse \ud83d\udc0e');
    expect([...ledger.documents.values()].sort((a, b) => (a._id < b._id ? -1 : 1))).toEqual(
      docs.sort((a, b) => (a._id < b._id ? -1 : 1)),
    );
  });

  it('writes JSON Lines between a header and a footer with the digest of all before it', async () => {
    const lines = await linesOf(await exportOf(HOUSE));
    expect(lines.at(-1)).toBe('');
    const footer: unknown = JSON.parse(lines.at(-2) ?? '');
    const before = lines
      .slice(0, -2)
      .map((line) => `${line}\n`)
      .join('');
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      roost: 'household',
      version: 1,
      exportedAt: EXPORTED_AT,
      documents: HOUSE.length,
    });
    expect(footer).toEqual({
      roost: 'end',
      documents: HOUSE.length,
      sha256: createHash('sha256').update(before).digest('hex'),
    });
    expect(
      lines
        .slice(1, -2)
        .map((line) => (JSON.parse(line) as Doc)._id)
        .sort(),
    ).toEqual(HOUSE.map(({ _id }) => _id).sort());
  });

  it('writes a file of the age format, version 1, under a passphrase', async () => {
    stretchBy(REAL_FACTOR);
    const bytes = await bytesOf(await exportOf(HOUSE, 'open sesame'));
    const header = new TextDecoder('latin1').decode(bytes.subarray(0, 200));
    expect(header).toMatch(
      /^age-encryption\.org\/v1\n-> scrypt [A-Za-z0-9+/]{22} 18\n[A-Za-z0-9+/]{43}\n--- [A-Za-z0-9+/]{43}\n/,
    );
    expect(Buffer.from(bytes).includes('household')).toBe(false);
  });

  it('copies a household without agents', async () => {
    const ledger = memoryLedger();
    expect(await importInto(ledger, await exportOf([]))).toEqual({ documents: 0, written: 0, leftOut: 0 });
  });

  it('fetches larger pages for shorter documents, up to what a page can carry', async () => {
    const ledger = memoryLedger(
      range(3_000).map((n): Doc => ({ _id: `${n}`, type: 'x', schema: 1, at: messageDoc(n).at })),
    );
    const long = memoryLedger(
      range(60).map((n) => messageDoc(n, { blocks: [{ kind: 'text', text: 'x'.repeat(100_000) }] })),
    );
    const limitsOf = async (from: typeof ledger) => {
      const limits: number[] = [];
      const read: typeof from.read = (request) => {
        limits.push(request.limit);
        return from.read(request);
      };
      await exportsHere().exportHousehold({ read, sink: memorySink().sink, passphrase: null, exportedAt: 0 });
      return limits;
    };
    expect(Math.max(...(await limitsOf(ledger)))).toBe(EXPORT_FORMAT.batchDocuments);
    expect((await limitsOf(long)).slice(1).every((limit) => limit <= 6)).toBe(true);
  });

  it('tells how far it is', async () => {
    const seen: ExportProgress[] = [];
    const { sink, file } = memorySink();
    await exportsHere().exportHousehold({
      read: memoryLedger(HOUSE).read,
      sink,
      passphrase: 'p',
      exportedAt: 0,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen[0]).toEqual({ stage: 'key', done: 0, of: 1 });
    expect(seen.at(-1)).toEqual({ stage: 'documents', done: HOUSE.length, of: HOUSE.length });
    const ledger = memoryLedger();
    seen.length = 0;
    await exportsHere().openExport(file(), 'p', {
      ...ledger,
      here: ledger.here(),
      now: EXPORTED_AT,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.at(-1)).toEqual({ stage: 'documents', done: HOUSE.length, of: HOUSE.length });
  });

  it('waits for a sink that is slow, with no more in hand than a few pieces', async () => {
    const docs = range(400).map((n) =>
      messageDoc(n, {
        blocks: [
          {
            kind: 'text',
            text: range(5_000)
              .map((i) => String.fromCharCode(0x4e00 + ((n * 7919 + i * 104729) % 20_000)))
              .join(''),
          },
        ],
      }),
    );
    let pages = 0;
    const ahead: number[] = [];
    const ledger = memoryLedger(docs);
    let written = 0;
    const sink = new WritableStream<Uint8Array>({
      async write(chunk) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        written += chunk.length;
        ahead.push(pages);
      },
    });
    const { bytes } = await exportsHere().exportHousehold({
      read: (request) => {
        pages += 1;
        return ledger.read(request);
      },
      sink,
      passphrase: null,
      exportedAt: 0,
    });
    expect(written).toBe(bytes);
    // The first piece was written long before the last page was read.
    expect(ahead[0]).toBeLessThan(pages / 2);
  });
});

describe('Making a copy ends', () => {
  it('stops at once when it is cancelled, and leaves no half file', async () => {
    const calling = new AbortController();
    const { sink, end } = memorySink();
    const ledger = memoryLedger(range(500).map((n) => messageDoc(n)));
    let pages = 0;
    const read: typeof ledger.read = (request) => {
      pages += 1;
      if (pages === 2) calling.abort(new Error('called off'));
      return ledger.read(request);
    };
    await expect(
      exportsHere().exportHousehold({ read, sink, passphrase: null, exportedAt: 0, signal: calling.signal }),
    ).rejects.toThrow('called off');
    expect(end.state).toBe('aborted');
    expect(pages).toBe(2);
  });

  it('stops before it begins when it was cancelled already', async () => {
    const { sink, end } = memorySink();
    const signal = AbortSignal.abort(new Error('never mind'));
    await expect(
      exportsHere().exportHousehold({ read: memoryLedger().read, sink, passphrase: null, exportedAt: 0, signal }),
    ).rejects.toThrow('never mind');
    expect(end.state).toBe('aborted');
  });

  it('fails with the ledger’s own error when the ledger cannot be read', async () => {
    const { sink, end } = memorySink();
    const broken = new Error('The browser’s storage failed.');
    await expect(
      exportsHere().exportHousehold({ read: () => Promise.reject(broken), sink, passphrase: null, exportedAt: 0 }),
    ).rejects.toBe(broken);
    expect(end.state).toBe('aborted');
  });

  it('fails with the sink’s own error when the sink is full', async () => {
    const full = new Error('No room left.');
    const sink = new WritableStream<Uint8Array>({ write: () => Promise.reject(full) });
    await expect(
      exportsHere().exportHousehold({ read: memoryLedger(HOUSE).read, sink, passphrase: null, exportedAt: 0 }),
    ).rejects.toBe(full);
  });

  it('refuses an empty passphrase', async () => {
    expect(
      await kindOf(
        exportsHere().exportHousehold({
          read: memoryLedger(HOUSE).read,
          sink: memorySink().sink,
          passphrase: '',
          exportedAt: 0,
        }),
      ),
    ).toBe('needs-passphrase');
  });
});

describe('Importing', () => {
  it('twice over writes nothing the second time', async () => {
    const file = await exportOf(HOUSE);
    const ledger = memoryLedger();
    expect(await importInto(ledger, file)).toEqual({ documents: HOUSE.length, written: HOUSE.length, leftOut: 0 });
    expect(await importInto(ledger, file)).toEqual({ documents: HOUSE.length, written: 0, leftOut: 0 });
    expect((await open(file, ledger)).preview).toMatchObject({
      fresh: 0,
      same: HOUSE.length,
      different: 0,
      conflicts: [],
    });
  });

  it('hands on at most so many documents at a time', async () => {
    const ledger = memoryLedger();
    await importInto(ledger, await exportOf(range(1_200).map((n) => messageDoc(n))));
    expect(ledger.batches.reduce((sum, batch) => sum + batch, 0)).toBe(1_200);
    expect(ledger.batches.every((batch) => batch <= EXPORT_FORMAT.batchDocuments)).toBe(true);
    const short = range(1_200).map((n): Doc => ({ _id: `${n}`, type: 'x', schema: 1, at: messageDoc(n).at }));
    ledger.batches.length = 0;
    await importInto(ledger, await exportOf(short));
    expect(ledger.batches).toEqual([500, 500, 200]);
  });

  it('leaves out the settings where that is wished', async () => {
    const ledger = memoryLedger();
    const opened = await open(await exportOf(HOUSE), ledger);
    const result = await exportsHere().importExport(opened, {
      ...ledger.lent,
      withSettings: false,
      leaveOut: [],
      ticks: [],
    });
    expect(result).toEqual({ documents: HOUSE.length - 1, written: HOUSE.length - 1, leftOut: 1 });
    expect([...ledger.documents.values()].some(({ type }) => type === 'setting')).toBe(false);
  });

  it('leaves out an agent with all that belongs to it, of kinds of a newer app too', async () => {
    const forget: Doc = {
      _id: 'forget:1',
      type: 'forget',
      schema: 1,
      at: messageDoc(40).at,
      target: { kind: 'agent', agentId: 'a1' },
      askedAt: 1,
      finalAt: 2,
    };
    const undo: Doc = {
      _id: 'a-forget-undo:1',
      type: 'forget-undo',
      schema: 1,
      at: messageDoc(41).at,
      forgetId: 'forget:1',
    };
    const ledger = memoryLedger();
    const opened = await open(await exportOf([...HOUSE, forget, undo]), ledger);
    await exportsHere().importExport(opened, {
      ...ledger.lent,
      withSettings: true,
      leaveOut: ['a1'],
      ticks: [],
    });
    const left = [...ledger.documents.values()];
    expect(JSON.stringify(left)).not.toContain('"a1"');
    expect(left.map(({ type }) => type)).not.toContain('forget-undo');
    expect(left.filter(({ type }) => type === 'session')).toHaveLength(2);
    expect(left.filter((doc) => doc['agentId'] === 'a2')).toHaveLength(6);
  });

  it('stops between two batches when it is cancelled, and continues later', async () => {
    const docs = range(1_200).map((n) => messageDoc(n));
    const file = await exportOf(docs);
    const ledger = memoryLedger();
    const calling = new AbortController();
    const opened = await open(file, ledger);
    const append: typeof ledger.append = async (batch) => {
      const answer = await ledger.append(batch);
      calling.abort(new Error('called off'));
      return answer;
    };
    await expect(
      exportsHere().importExport(opened, {
        ...ledger.lent,
        append,
        withSettings: true,
        leaveOut: [],
        ticks: [],
        signal: calling.signal,
      }),
    ).rejects.toThrow('called off');
    const [first = 0, ...later] = ledger.batches;
    expect(ledger.documents.size).toBe(first);
    expect(later).toEqual([]);
    expect(await importInto(ledger, file)).toMatchObject({ written: 1_200 - first });
  });

  it('stops with the ledger’s own error where it refuses', async () => {
    const ledger = memoryLedger();
    const opened = await open(await exportOf(HOUSE), ledger);
    const full = new Error('The browser has no more room for this page.');
    await expect(
      exportsHere().importExport(opened, {
        ...ledger.lent,
        append: () => Promise.reject(full),
        withSettings: true,
        leaveOut: [],
        ticks: [],
      }),
    ).rejects.toBe(full);
  });

  it('takes a copy that a browser unpacked while saving it', async () => {
    const lines = gunzipSync(await bytesOf(await exportOf(HOUSE)));
    const ledger = memoryLedger();
    expect(await importInto(ledger, new Blob([new Uint8Array(lines)]))).toMatchObject({ written: HOUSE.length });
  });
});

describe('A file that is not right', () => {
  const opening = (file: Blob, passphrase: string | null = null) => open(file, memoryLedger(), passphrase);

  it('asks for its passphrase, and knows a wrong one', async () => {
    const file = await exportOf(HOUSE, 'right');
    expect(await kindOf(opening(file))).toBe('needs-passphrase');
    expect(await kindOf(opening(file, 'Right'))).toBe('wrong-passphrase');
  });

  it.each([
    ['nothing at all', ''],
    ['a picture', '\x89PNG\r\n\x1a\n\0\0\0'],
    ['a line of text', 'hello\n'],
    ['other JSON', '{"name":"x"}\n'],
    ['a zip', 'PK\x03\x04'],
  ])('refuses a file of another program: %s', async (_name, text) => {
    expect(await kindOf(opening(new Blob([Buffer.from(text, 'latin1')])))).toBe('not-an-export');
    expect(await kindOf(opening(repack([text])))).toBe('not-an-export');
  });

  it('refuses a file that is sealed for a key', async () => {
    const file = new Blob([
      `age-encryption.org/v1\n-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n${'x'.repeat(100)}`,
    ]);
    expect((await failure(opening(file, 'p'))).message).toContain('age');
  });

  it('refuses a file of a newer Roost', async () => {
    const [, ...rest] = await linesOf(await exportOf(HOUSE));
    const file = repack([JSON.stringify({ roost: 'household', version: 2, somethingElse: true }), ...rest]);
    expect(await kindOf(opening(file))).toBe('newer-version');
  });

  it('refuses a file with a missing, an additional or an invalid document', async () => {
    const lines = await linesOf(await exportOf(HOUSE));
    expect(await kindOf(opening(repack(lines.toSpliced(3, 1))))).toBe('damaged');
    expect(await kindOf(opening(repack(lines.toSpliced(3, 0, lines[3] ?? ''))))).toBe('damaged');
    expect(await kindOf(opening(repack(lines.with(3, '{"_id":"x"}'))))).toBe('damaged');
    expect(await kindOf(opening(repack(lines.with(3, '{"_id":'))))).toBe('damaged');
    expect(await kindOf(opening(repack([`${lines[0] ?? ''} `, ...lines.slice(1)])))).toBe('damaged');
  });

  it.each([600, 6_000, 200_000])('refuses a document nested %i levels deep, and says so', async (levels) => {
    const lines = await linesOf(await exportOf(HOUSE));
    const value = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const deep = JSON.stringify({ ...messageDoc(1), _id: 'later:1', type: 'later', value: 0 }).replace(
      '"value":0',
      `"value":${value}`,
    );
    for (const line of [deep, JSON.stringify(messageDoc(1)).replace('"blocks":[', `"blocks":[${value},`)]) {
      const { kind, message } = await failure(opening(repack(lines.with(3, line))));
      expect([kind, message]).toEqual([
        'damaged',
        'This file is damaged, or its end is missing. Copy it again, or use another copy. Nothing was imported.',
      ]);
    }
  });

  it('refuses a file without its last lines', async () => {
    const lines = await linesOf(await exportOf(HOUSE));
    for (const kept of [1, 2, 5, lines.length - 2])
      expect(await kindOf(opening(repack(lines.slice(0, kept)))), `${kept} lines`).toBe('cut-short');
  });

  it('refuses a file that is cut anywhere', async () => {
    const bytes = await bytesOf(await exportOf(HOUSE));
    for (let length = 1; length < bytes.length; length += 1) {
      const kind = await kindOf(opening(new Blob([bytes.subarray(0, length)])));
      expect(kind, `${length} of ${bytes.length} bytes`).toBe(length < 2 ? 'not-an-export' : 'cut-short');
    }
  });

  it('refuses a file with one changed byte anywhere', async () => {
    const bytes = await bytesOf(await exportOf(HOUSE));
    const unnoticed: number[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = bytes.with(at, (bytes[at] ?? 0) ^ (1 << (at % 8)));
      const ledger = memoryLedger();
      const noticed = await importInto(ledger, new Blob([flipped])).then(
        () => false,
        (error: unknown) => error instanceof ExportError,
      );
      if (noticed) expect(ledger.batches).toEqual([]);
      else {
        unnoticed.push(at);
        expect([...ledger.documents.values()].sort((a, b) => (a._id < b._id ? -1 : 1))).toEqual(
          HOUSE.toSorted((a, b) => (a._id < b._id ? -1 : 1)),
        );
      }
    }
    // gzip's header has a time, a hint and a system's number, which say nothing about what is
    // inside.
    expect(unnoticed.every((at) => at >= 3 && at <= 9)).toBe(true);
  });

  it('imports nothing when only the end of the file is wrong', async () => {
    const docs = range(1_500).map((n) => messageDoc(n));
    const lines = await linesOf(await exportOf(docs));
    const ledger = memoryLedger();
    expect(await kindOf(importInto(ledger, repack(lines.with(1_400, JSON.stringify(messageDoc(1))))))).toBe('damaged');
    expect(ledger.batches).toEqual([]);
  });

  it('refuses a file that changed after it was opened', async () => {
    const ledger = memoryLedger();
    const opened = await open(await exportOf(HOUSE), ledger);
    const swapped = { ...opened, source: { ...opened.source, file: await exportOf(HOUSE.slice(1)) } };
    expect(
      await kindOf(
        exportsHere().importExport(swapped, { ...ledger.lent, withSettings: true, leaveOut: [], ticks: [] }),
      ),
    ).toBe('damaged');
  });
});

describe('A sealed file that is not right', () => {
  it('refuses a sealed file that is cut or has a changed byte, in its header or in any block', async () => {
    const noise = (n: number) =>
      range(30_000)
        .map((i) => String.fromCharCode(0x4e00 + ((n * 7919 + i * i * 104_729) % 20_000)))
        .join('');
    const file = await exportOf(
      range(16).map((n) => messageDoc(n, { blocks: [{ kind: 'text', text: noise(n) }] })),
      'p',
    );
    const bytes = await bytesOf(file);
    expect(bytes.length).toBeGreaterThan(3 * 65_552);
    // Stretching the passphrase once is enough: the blocks are under the file's own key.
    const key = await fileKeyOf(file, 'p');
    const reading = (changed: Uint8Array<ArrayBuffer>) =>
      readHousehold(new Blob([changed]), key, () => Promise.resolve());
    const payload = new TextDecoder('latin1').decode(bytes.subarray(0, 400)).search(/\n--- .{43}\n/) + 49;
    for (const at of [22, 40, payload - 10, payload, payload + 15, payload + 16, payload + 70_000, payload + 140_000])
      expect(await kindOf(reading(bytes.with(at, (bytes[at] ?? 0) ^ 1))), `byte ${at}`).toMatch(
        /^(damaged|cut-short|not-an-export)$/,
      );
    expect(await kindOf(reading(bytes.with(payload + 70_000, (bytes[payload + 70_000] ?? 0) ^ 1)))).toBe('damaged');
    for (const length of [
      60,
      payload,
      payload + 16,
      payload + 16 + 65_552,
      payload + 16 + 2 * 65_552 + 5,
      bytes.length - 1,
    ])
      expect(await kindOf(reading(bytes.slice(0, length))), `${length} bytes`).toMatch(/^(cut-short|damaged)$/);
    expect(await kindOf(reading(bytes.slice(0, bytes.length - 1)))).toBe('cut-short');
    const end = new Uint8Array([...bytes, 0]);
    expect(await kindOf(reading(end))).toMatch(/^(cut-short|damaged)$/);
  });

  it('refuses a sealed file with a changed header', async () => {
    const bytes = await bytesOf(await exportOf(HOUSE, 'p'));
    const mac = new TextDecoder('latin1').decode(bytes.subarray(0, 400)).indexOf('\n--- ') + 6;
    const changed = bytes.with(mac, bytes[mac] === 65 ? 66 : 65);
    expect(await kindOf(open(new Blob([changed]), memoryLedger(), 'p'))).toBe('damaged');
    const work = new TextDecoder('latin1').decode(bytes.subarray(0, 100)).indexOf(' 10\n') + 1;
    expect(await kindOf(open(new Blob([bytes.with(work, 57)]), memoryLedger(), 'p'))).toBe('damaged');
  });
});

describe('The worker', () => {
  it('whose file cannot be fetched is said to be missing, with what to do', async () => {
    class Gone extends EventTarget {
      constructor() {
        super();
        setTimeout(() => this.dispatchEvent(new Event('error')));
      }
      postMessage() {
        return undefined;
      }
      terminate() {
        return undefined;
      }
    }
    const gone = () => new Gone();
    const exports = createExports({ spawn: gone });
    const error = await failure(exports.readAgentZip(new Blob(['# Mo'])));
    expect(error.kind).toBe('no-worker');
    expect(error.message).toContain('relay');
    await exports.warm();
  });

  it('reports a worker that the browser refuses to start as missing', async () => {
    const exports = createExports({
      spawn: () => {
        throw new Error('refused');
      },
    });
    expect(await kindOf(exports.readAgentZip(new Blob(['# Mo'])))).toBe('no-worker');
    await exports.warm();
  });
});
