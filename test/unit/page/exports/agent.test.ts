import { NAME_MAX, shownName } from '../../../../src/shared/domain/names.ts';
import fc from 'fast-check';
import { strFromU8, strToU8, unzipSync, zipSync, type Zippable } from 'fflate';
import { describe, expect, it } from 'vitest';
import {
  adopt,
  aheadOf,
  agentFileName,
  ExportError,
  householdFileName,
  type ParsedAgent,
} from '../../../../src/page/exports/index.ts';
import { EXPORT_FORMAT } from '../../../../src/page/exports/methods.ts';
import { createConsent, isConsented, rosterFrom } from '../../../../src/page/exports/household/consent.ts';
import { choicesOf } from '../../../../src/shared/domain/choices.ts';
import { paintedFaceText } from '../../../../src/shared/domain/face.ts';
import { createClock, parseStamp } from '../../../../src/shared/domain/stamp.ts';
import { parseDocument, type Doc } from '../../../../src/shared/protocol/documents.ts';
import { isKnown } from '../../../../src/shared/protocol/documents/kinds.ts';
import { LIMITS } from '../../../../src/shared/protocol/limits.ts';
import {
  changeDoc,
  identityDoc,
  messageDoc,
  queuedDoc,
  readDoc,
  sessionEnd,
  sessionStart,
  settingDoc,
  stampOf,
} from '../../../support/documents.ts';
import { agentZipOf, exportsHere, bytesOf, exportOf, memoryLedger, memorySink } from './support.ts';

const SOUL = '# Lyra\n\nI am the first. \ud83d\udc26\n';
function memoryDoc(n: number, recordId: string, text: string, given: object = {}): Doc {
  const source = { by: 'agent', sessionId: 's1', runId: null, read: [] };
  const value = { agentId: 'a1', path: 'index.md', text, pinned: false, source, removed: false, ...given };
  const at = stampOf(n);
  return {
    ...{ _id: `memory:${recordId}:${at}`, type: 'memory', schema: 1, at, recordId, agentId: 'a1' },
    value: { ...value, createdAt: 1, changedAt: n },
  };
}
const LYRA: Doc[] = [
  identityDoc(1, 'a1', 0, SOUL),
  changeDoc(2, 'a1', { kind: 'rename', name: 'Lyra' }),
  sessionStart(3, 's1'),
  messageDoc(4),
  messageDoc(5, { replaces: 'm4' }),
  readDoc(6, 'm5'),
  sessionEnd(7, 's1'),
  sessionStart(8, 's2'),
  messageDoc(9, { sessionId: 's2' }),
  queuedDoc(10, 'a1'),
  memoryDoc(11, 'f1', 'the lake'),
  memoryDoc(12, 'f1', 'the sea'),
  memoryDoc(13, 'f2', 'no soul', { path: 'people/SOUL.md' }),
  memoryDoc(14, 'f3', '', { path: 'gone.md', removed: true }),
];
const OTHERS: Doc[] = [identityDoc(20, 'a2', 1), messageDoc(21, { agentId: 'a2' }), settingDoc(22, 'humanName', 'Ada')];

/** Bytes between two that are changed: odd, so that each bit of a byte has its turn. */
const STRIDE = 9;

const zipped = (files: Zippable) => new Blob([new Uint8Array(zipSync(files))]);
const read = (file: Blob) => exportsHere().readAgentZip(file);
const unzipped = async (file: Blob) =>
  Object.fromEntries(Object.entries(unzipSync(await bytesOf(file))).map(([path, bytes]) => [path, strFromU8(bytes)]));
const byId = (docs: readonly Doc[]) => docs.toSorted((a, b) => (a._id < b._id ? -1 : 1));
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

describe('An agent as a folder', () => {
  it('exports an agent with soul, identity, memory, a file for each session and a readme', async () => {
    const files = await unzipped(await agentZipOf([...LYRA, ...OTHERS], 'a1'));
    expect(Object.keys(files).sort()).toEqual([
      'Lyra/README.txt',
      'Lyra/SOUL.md',
      'Lyra/identity.json',
      'Lyra/memory/index.md',
      'Lyra/memory/people/SOUL.md',
      'Lyra/more.jsonl',
      'Lyra/transcripts/2026-01-01-s1.jsonl',
      'Lyra/transcripts/2026-01-01-s2.jsonl',
    ]);
    expect(files['Lyra/SOUL.md']).toBe(SOUL);
    expect(files['Lyra/memory/index.md']).toBe('the sea');
    expect(files['Lyra/README.txt']).toContain('Lyra is an agent');
    const types = (files['Lyra/transcripts/2026-01-01-s1.jsonl'] ?? '')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Doc).type);
    expect(types).toEqual(['session', 'message', 'message', 'message-read', 'session']);
  });

  it('comes back exactly, with nothing of anybody else', async () => {
    const parsed = await read(await agentZipOf([...LYRA, ...OTHERS], 'a1'));
    expect(parsed).toMatchObject({ agentId: 'a1', name: 'Lyra', soul: SOUL, messages: 3, sessions: 2, warnings: [] });
    expect(byId(parsed.documents)).toEqual(byId(LYRA));
  });

  it('comes back exactly whatever its soul, its name and its words are', async () => {
    const weird = fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(weird, weird, weird, weird, async (soul, name, text, sessionId) => {
        const docs: Doc[] = [
          { ...identityDoc(1, 'a1', 0, `I${soul}`), name },
          messageDoc(2, { blocks: [{ kind: 'text', text }], sessionId: `s${sessionId}` }),
          messageDoc(3, { sessionId: `S${sessionId}` }),
        ];
        const parsed = await read(await agentZipOf(docs, 'a1'));
        expect(parsed).toMatchObject({ agentId: 'a1', name: shownName(name, 'agent'), soul: `I${soul}`, warnings: [] });
        expect(byId(parsed.documents)).toEqual(byId(docs));
      }),
      { numRuns: 60 },
    );
  });

  it('uses file names that every system accepts', async () => {
    const nameOf = async (name: string) =>
      Object.keys(await unzipped(await agentZipOf([{ ...identityDoc(1, 'a1', 0), name }], 'a1')))[0]?.split('/')[0];
    expect(await nameOf('../../etc/passwd')).toBe('-..-etc-passwd');
    expect(await nameOf('CON')).toBe('_CON');
    expect(await nameOf('nul.txt')).toBe('_nul.txt');
    expect(await nameOf('Ma\0y: "B" <c>?*|\\ \ud800.')).toBe('Ma y B c --');
    expect(await nameOf('Zo\u0065\u0308')).toBe('Zo\u00eb');
    expect(await nameOf('...')).toBe('Nameless');
    expect(await nameOf('\u202egnp.exe')).toBe('gnp.exe');
    expect([...((await nameOf('\ud83d\udc26'.repeat(300))) ?? '')]).toHaveLength(NAME_MAX / 2);
    expect(agentFileName('Lyra / Two')).toBe('Lyra - Two.zip');
    expect(householdFileName({ exportedAt: Date.UTC(2026, 10, 21), sealed: true })).toBe(
      'roost-household-2026-11-21.jsonl.gz.age',
    );
  });

  it('keeps sessions apart whose ids differ in case, or in what a file name cannot say', async () => {
    const docs = ['a/b', 'a:b', 'A-B'].map((sessionId, n) => messageDoc(n, { sessionId }));
    const files = await unzipped(await agentZipOf([identityDoc(9, 'a1', 0), ...docs], 'a1'));
    expect(new Set(Object.keys(files).map((path) => path.toLowerCase())).size).toBe(6);
  });

  it('refuses to export an unknown agent, and leaves no half file', async () => {
    const { sink, end } = memorySink();
    await expect(
      exportsHere().exportAgent({ agentId: 'nobody', read: memoryLedger(LYRA).read, sink, exportedAt: 0 }),
    ).rejects.toThrow('nobody of this id');
    expect(end.state).toBe('aborted');
  });
});

describe('A soul written by hand', () => {
  it.each<[string, Zippable, Partial<ParsedAgent>]>([
    ['at the top of a zip', { 'SOUL.md': strToU8('# Mo\n\nI am.') }, { name: 'Mo', soul: '# Mo\n\nI am.' }],
    ['deep in folders', { 'a/b/Mira/soul.MD': strToU8('I am.') }, { name: 'Mira', soul: 'I am.' }],
    [
      'beside what macOS adds',
      { 'Mo/SOUL.md': strToU8('I am.'), '__MACOSX/Mo/._SOUL.md': strToU8('\0\0junk'), 'Mo/.DS_Store': strToU8('x') },
      { name: 'Mo', soul: 'I am.', warnings: [] },
    ],
    ['as Windows saves it', { 'SOUL.md': strToU8('\ufeff# Mo\r\nI am.\r\n') }, { name: 'Mo', soul: '# Mo\nI am.\n' }],
    ['in UTF-16', { 'SOUL.md': new Uint8Array([0xff, 0xfe, 0x4d, 0, 0x6f, 0]) }, { soul: 'Mo' }],
    [
      'in Windows-1252',
      { 'SOUL.md': new Uint8Array([0x5a, 0x6f, 0xeb]) },
      { soul: 'Zoë', warnings: [{ kind: 'other-encoding', path: 'SOUL.md' }] },
    ],
    ['with front matter', { 'SOUL.md': strToU8('---\nrole: x\nname: "Ada B"\n---\nI am.') }, { name: 'Ada B' }],
    [
      'with a heading that is dressed up',
      { 'SOUL.md': strToU8('hello\n```\n# no\n```\n## **The** [Owl](x) ##\n') },
      { name: 'The Owl' },
    ],
    ['with nothing that says who', { 'SOUL.md': strToU8('I am.') }, { name: null }],
    [
      'in a Markdown file of another name',
      { 'Nova/Nova.md': strToU8('I am.'), 'Nova/README.md': strToU8('# Read me') },
      { name: 'Nova', soul: 'I am.' },
    ],
    ['with backslashes for folders', { 'Mo\\SOUL.md': strToU8('I am.') }, { name: 'Mo' }],
  ])('finds a soul written by hand %s', async (_where, files, expected) => {
    expect(await read(zipped(files))).toMatchObject({
      agentId: null,
      documents: [],
      messages: 0,
      sessions: 0,
      ...expected,
    });
  });

  it("reads a soul from a bare file, and its name from the file's name", async () => {
    expect(await read(new File(['# Mo\nI am.'], 'x.md'))).toMatchObject({ name: 'Mo', soul: '# Mo\nI am.' });
    expect(await read(new File(['I am.'], 'Mira.md'))).toMatchObject({ name: 'Mira' });
    expect(await read(new File(['I am.'], 'SOUL.md'))).toMatchObject({ name: null });
  });

  it('takes the shallowest of several souls, and names the others', async () => {
    const parsed = await read(
      zipped({ 'x/y/SOUL.md': strToU8('deep'), 'b/SOUL.md': strToU8('b'), 'a/SOUL.md': strToU8('a') }),
    );
    expect(parsed.soul).toBe('a');
    expect(parsed.warnings).toEqual([
      { kind: 'several-souls', taken: 'a/SOUL.md', others: ['b/SOUL.md', 'x/y/SOUL.md'] },
    ]);
  });

  it('refuses a soul without words, with too many, or that is no text', async () => {
    expect(await kindOf(read(zipped({ 'SOUL.md': strToU8(' \n') })))).toBe('not-an-export');
    expect(await kindOf(read(zipped({ 'SOUL.md': strToU8('x'.repeat(LIMITS.soul + 1)) })))).toBe('too-large');
    expect(await kindOf(read(new Blob([new Uint8Array([0x89, 0x50, 0, 0xff])])))).toBe('not-an-export');
    expect(await kindOf(read(zipped({ 'notes.txt': strToU8('x') })))).toBe('not-an-export');
    expect((await failure(read(await exportOf(LYRA)))).message).toContain('household');
  });
});

describe('A folder that somebody changed', () => {
  const rezip = async (change: (files: Record<string, string>) => void) => {
    const files = await unzipped(await agentZipOf(LYRA, 'a1'));
    change(files);
    return zipped(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));
  };

  it('takes a soul that an editor saved unchanged for the same soul', async () => {
    const parsed = await read(
      await rezip((files) => (files['Lyra/SOUL.md'] = `\ufeff${SOUL.replaceAll('\n', '\r\n')}`)),
    );
    expect(parsed).toMatchObject({ soul: SOUL, warnings: [] });
  });

  it('takes a soul with other words for a later soul', async () => {
    const parsed = await read(await rezip((files) => (files['Lyra/SOUL.md'] = 'I am another.')));
    expect(parsed).toMatchObject({ agentId: 'a1', soul: 'I am another.', warnings: [{ kind: 'soul-edited' }] });
  });

  it('lost its SOUL.md: the identity knows it', async () => {
    expect(await read(await rezip((files) => delete files['Lyra/SOUL.md']))).toMatchObject({
      agentId: 'a1',
      soul: SOUL,
    });
  });

  it('reads a folder without an identity as a soul by hand, with words of nobody', async () => {
    const parsed = await read(await rezip((files) => delete files['Lyra/identity.json']));
    expect(parsed).toMatchObject({ agentId: null, name: 'Lyra', documents: [] });
    expect(parsed.warnings).toHaveLength(3);
  });

  it('leaves out invalid lines and lines of other agents, and says so', async () => {
    const file = await rezip((files) => {
      files['Lyra/transcripts/2026-01-01-s2.jsonl'] +=
        `half a line\n${JSON.stringify(messageDoc(50, { agentId: 'a2' }))}\n${JSON.stringify(settingDoc(51, 'humanName', 'x'))}\n`;
    });
    const parsed = await read(file);
    expect(byId(parsed.documents)).toEqual(byId(LYRA));
    expect(parsed.warnings).toEqual([
      expect.objectContaining({
        kind: 'unreadable',
        path: 'Lyra/transcripts/2026-01-01-s2.jsonl',
        reason: expect.stringContaining('3 of 5'),
      }),
    ]);
  });

  it('leaves out a memory that names another agent, or that no relay would take', async () => {
    const parsed = await read(
      await rezip((files) => {
        for (const doc of [
          memoryDoc(60, 'f8', 'x', { agentId: 'a2' }),
          memoryDoc(61, 'f9', 'x', { path: '../../x.md' }),
        ])
          files['Lyra/more.jsonl'] += `${JSON.stringify(doc)}\n`;
      }),
    );
    expect(byId(parsed.documents)).toEqual(byId(LYRA));
    expect(parsed.warnings).toMatchObject([{ kind: 'unreadable', path: 'Lyra/more.jsonl' }]);
  });

  it('refuses a folder of a newer Roost', async () => {
    expect(
      await kindOf(
        read(
          await rezip(
            (files) =>
              (files['Lyra/identity.json'] = (files['Lyra/identity.json'] ?? '').replace(
                '"version": 1',
                '"version": 2',
              )),
          ),
        ),
      ),
    ).toBe('newer-version');
  });
});

describe('A zip that is not right', () => {
  it('refuses a zip that is cut anywhere', async () => {
    const bytes = await bytesOf(await agentZipOf(LYRA, 'a1'));
    for (let length = 4; length < bytes.length; length += 13)
      expect(await kindOf(read(new Blob([bytes.subarray(0, length)]))), `${length} bytes`).toBe('damaged');
  });

  it('refuses a zip with one changed byte, or reads the same agent from it', async () => {
    const bytes = await bytesOf(await agentZipOf(LYRA, 'a1'));
    let refused = 0;
    for (let at = 0; at < bytes.length; at += STRIDE) {
      const flipped = new Blob([bytes.with(at, (bytes[at] ?? 0) ^ (1 << (at % 8)))]);
      const parsed = await read(flipped).catch((error: unknown) => {
        if (error instanceof ExportError) return null;
        throw error;
      });
      // Names of files and folders have no check in a zip: one that is another hides a file, and
      // never changes one.
      if (parsed) expect(LYRA).toEqual(expect.arrayContaining([...parsed.documents]));
      if (parsed && parsed.name === 'Lyra' && parsed.agentId) expect(parsed.soul).toBe(SOUL);
      refused += parsed ? 0 : 1;
    }
    expect(refused).toBeGreaterThan(bytes.length / STRIDE / 2);
  });

  it('unpacks to more than it says', async () => {
    const bytes = new Uint8Array(zipSync({ 'SOUL.md': new Uint8Array(50_000_000) }, { level: 1 }));
    const view = new DataView(bytes.buffer);
    const directory = view.getUint32(bytes.length - 6, true);
    view.setUint32(directory + 24, 1_000, true);
    expect(await kindOf(read(new Blob([bytes])))).toBe('too-large');
  });

  it('says that it unpacks to more than an agent could be', async () => {
    const bytes = new Uint8Array(zipSync({ 'SOUL.md': strToU8('I am.') }));
    new DataView(bytes.buffer).setUint32(
      new DataView(bytes.buffer).getUint32(bytes.length - 6, true) + 24,
      EXPORT_FORMAT.unpackedBytes + 1,
      true,
    );
    expect(await kindOf(read(new Blob([bytes])))).toBe('too-large');
  });

  it('refuses a zip with more files than an agent could have', async () => {
    const files = Object.fromEntries(
      Array.from({ length: EXPORT_FORMAT.zipEntries + 1 }, (_, i) => [`f${i}`, new Uint8Array(0)]),
    );
    expect(await kindOf(read(zipped({ ...files, 'SOUL.md': strToU8('I am.') })))).toBe('too-large');
  });

  it('refuses a zip that is locked or compressed in another way', async () => {
    const changed = (at: number, value: number) => {
      const bytes = new Uint8Array(zipSync({ 'SOUL.md': strToU8('I am.') }));
      const view = new DataView(bytes.buffer);
      view.setUint16(view.getUint32(bytes.length - 6, true) + at, value, true);
      return new Blob([bytes]);
    };
    expect((await failure(read(changed(8, 1)))).message).toContain('password');
    expect((await failure(read(changed(10, 14)))).message).toContain('ordinary zip');
  });

  it('reads a zip with bytes before it and a comment after it', async () => {
    const zip = zipSync({ 'SOUL.md': strToU8('I am.') });
    const comment = strToU8('packed by hand');
    const ended = new Uint8Array([...zip, ...comment]);
    new DataView(ended.buffer).setUint16(zip.length - 2, comment.length, true);
    expect(await read(new Blob([ended]))).toMatchObject({ soul: 'I am.' });
  });
});

describe('Adopting', () => {
  const clock = () => createClock({ now: () => Date.UTC(2026, 5, 1), node: 'page' });
  let made = 0;
  const newId = () => `new${(made += 1)}`;
  const now = Date.UTC(2026, 5, 1);
  const parsedLyra = async () => read(await agentZipOf([...LYRA, changeDoc(15, 'a1', { kind: 'retire' })], 'a1'));
  const rosterOf = (docs: readonly Doc[]) => {
    const ledger = memoryLedger(docs);
    return rosterFrom(ledger.here());
  };

  it('a soul written by hand gives it its first life', async () => {
    const parsed = await read(new Blob(['I am.']));
    const docs = adopt({ as: 'new', parsed, agentId: 'b1', name: 'Mo', position: 2, now, clock: clock() });
    expect(docs.map((doc) => parseDocument(doc))).toEqual([
      expect.objectContaining({
        _id: 'agent-identity:b1',
        agentId: 'b1',
        name: 'Mo',
        position: 2,
        color: '#00afd1',
        individuationArtifact: 'I am.',
        bornAt: now,
        bornSessionId: null,
      }),
    ]);
    expect(rosterOf(docs).seats.get(2)).toMatchObject({ name: 'Mo', soul: 'I am.' });
  });

  it('somebody as itself brings all documents, takes the seat, and is awake to it again', async () => {
    const parsed = await parsedLyra();
    const docs = adopt({ as: 'itself', parsed, name: 'Lyra', position: 3, clock: clock(), newId });
    expect(rosterOf(docs).seats.get(3)).toMatchObject({ agentId: 'a1', name: 'Lyra', soul: SOUL, retired: false });
    expect(byId(docs.filter(({ _id }) => !_id.startsWith('agent-change:new')))).toEqual(byId(parsed.documents));
  });

  it('somebody who lives here already as itself changes nothing that is here', async () => {
    const parsed = await read(await agentZipOf(LYRA, 'a1'));
    const ledger = memoryLedger([...LYRA, ...OTHERS]);
    expect(
      await ledger.append(adopt({ as: 'itself', parsed, name: null, position: null, clock: clock(), newId })),
    ).toEqual({ written: 0 });
  });

  it('an edited soul is a later one, even where the folder comes from a clock that is ahead', async () => {
    const ahead = {
      ...changeDoc(15, 'a1', { kind: 'soul', individuationArtifact: 'from tomorrow' }),
      at: stampOf(1).replace(/^\d{15}/, String(now + 3_600_000).padStart(15, '0')),
    };
    const parsed: ParsedAgent = { ...(await read(await agentZipOf([...LYRA, ahead], 'a1'))), soul: 'edited' };
    const docs = adopt({ as: 'itself', parsed, name: null, position: null, clock: clock(), newId });
    expect(rosterOf(docs).byId.get('a1')?.soul).toBe('edited');
    expect(parseStamp(docs.at(-1)?.at ?? '')?.time).toBeGreaterThanOrEqual(now + 3_600_000);
  });

  it('a copy leaves out what is dated ahead, and the clock here stays', async () => {
    const late = {
      ...messageDoc(16),
      at: stampOf(1).replace(/^\d{15}/, String(now + 25 * 3_600_000).padStart(15, '0')),
    };
    const parsed = await read(await agentZipOf([...LYRA, late], 'a1'));
    expect(parsed.documents.map(({ at }) => at)).toContain(late.at);
    expect(aheadOf(parsed, now)).toBe(1);
    expect(aheadOf(await read(await agentZipOf(LYRA, 'a1')), now)).toBe(0);
    const here = clock();
    const copy = adopt({ as: 'new', parsed, agentId: 'b1', name: 'Mo', position: 2, now, clock: here });
    const plain = adopt({
      as: 'new',
      parsed: await read(await agentZipOf(LYRA, 'a1')),
      agentId: 'b1',
      name: 'Mo',
      position: 2,
      now,
      clock: clock(),
    });
    expect(copy.map(({ _id }) => _id)).toEqual(plain.map(({ _id }) => _id));
    expect(here.lead()).toBeLessThan(1_000);
  });

  it('a copy lives beside the original, with all memories and no id in common but its sessions', async () => {
    const parsed = await parsedLyra();
    const copy = adopt({ as: 'new', parsed, agentId: 'b1', name: 'Lyra Two', position: 5, now, clock: clock() });
    const shared = copy.filter(({ _id }) => parsed.documents.some((doc) => doc._id === _id));
    expect(new Set(shared.map(({ type }) => type))).toEqual(new Set(['session']));
    for (const doc of copy) expect(parseDocument(doc)).toEqual(doc);
    expect(JSON.stringify(copy.filter(({ type }) => type !== 'session'))).not.toContain('"a1"');
    const { seats, byId: everyone } = rosterOf([...LYRA, ...copy]);
    expect(seats.get(5)).toMatchObject({
      agentId: 'b1',
      name: 'Lyra Two',
      soul: SOUL,
      retired: false,
      colorName: 'Barbiecore',
    });
    expect(everyone.get('a1')).toMatchObject({ name: 'Lyra', position: 0 });
    const messages = copy.filter(isKnown).filter((doc) => doc.type === 'message');
    expect(messages.map(({ messageId, replaces }) => [messageId, replaces])).toEqual([
      ['m4~b1', null],
      ['m5~b1', 'm4~b1'],
      ['m9~b1', null],
    ]);
    // What waits was written to the original.
    expect(copy.some(({ type }) => type === 'queued-message')).toBe(false);
    expect(copy.filter(({ type }) => type === 'memory')).toHaveLength(4);
    expect(copy).toContainEqual(
      expect.objectContaining({
        ...{ _id: `memory:f1~b1:${stampOf(12)}`, recordId: 'f1~b1', agentId: 'b1' },
        value: expect.objectContaining({ agentId: 'b1', text: 'the sea' }) as unknown,
      }),
    );
  });

  it('takes its look along, and no other setting; a copy looks alike, and who lives here keeps theirs', async () => {
    const face = paintedFaceText((x, y) => (y === 6 && x === 5 ? 1 : undefined));
    const looks = [settingDoc(30, 'face:a1', face), settingDoc(31, 'color:a1', '#4fb286')];
    const others = [
      settingDoc(32, 'model:a1', 'dear'),
      settingDoc(33, 'face:a2', face),
      settingDoc(34, 'humanName', 'Mo'),
    ];
    const file = await agentZipOf([...LYRA, ...looks, ...others], 'a1');
    const parsed = await read(file);
    expect(parsed.documents.filter(({ type }) => type === 'setting')).toEqual(looks);
    const lookOfCopy = (docs: readonly Doc[]) =>
      choicesOf(docs.filter(isKnown).flatMap((doc) => (doc.type === 'setting' ? [{ ...doc, id: doc._id }] : [])));
    const copy = adopt({ as: 'new', parsed, agentId: 'b1', name: 'Lyra', position: 5, now, clock: clock() });
    expect([...lookOfCopy(copy)]).toEqual([['b1', { model: '', color: '#4fb286', face }]]);
    const consents = (here: readonly Doc[]) => {
      const consent = createConsent(memoryLedger(here).here(), now);
      consent.take(parsed.documents);
      const { needs } = consent.result();
      return looks.map(({ _id }) => isConsented(needs, new Set(), _id));
    };
    expect(consents([identityDoc(20, 'a2', 1)])).toEqual([true, true]);
    expect(consents(LYRA)).toEqual([false, false]);
  });

  it('a copy has the same ids each time, and a copy of it no longer ones', async () => {
    const parsed = await parsedLyra();
    const first = adopt({ as: 'new', parsed, agentId: 'b1', name: 'Lyra', position: 5, now, clock: clock() });
    expect(
      adopt({ as: 'new', parsed, agentId: 'b1', name: 'Lyra', position: 5, now: now + 1, clock: clock() }),
    ).toEqual(first);
    const again = await read(await agentZipOf(first, 'b1'));
    const second = adopt({ as: 'new', parsed: again, agentId: 'c1', name: 'Lyra', position: 6, now, clock: clock() });
    expect(second.map(({ _id }) => _id.length)).toEqual(first.map(({ _id }) => _id.length));
    expect(new Set(second.map(({ _id }) => _id)).size).toBe(second.length);
  });

  it('a copy of a lead that was named twice is one agent', async () => {
    const leads = [1, 2].map((n): Doc => ({
      ...identityDoc(n, 'lead', 4, ''),
      _id: `agent-identity:${n}`,
      name: `Lead ${n}`,
      bornAt: n,
    }));
    const parsed = await read(
      await agentZipOf([...leads, changeDoc(3, 'lead', { kind: 'soul', individuationArtifact: 'I lead.' })], 'lead'),
    );
    const copy = adopt({ as: 'new', parsed, agentId: 'b1', name: 'Lead 1', position: 8, now, clock: clock() });
    expect(copy.map(({ type }) => type)).toEqual(['agent-identity', 'agent-change']);
    expect(rosterOf(copy).seats.get(8)).toMatchObject({ name: 'Lead 1', soul: 'I lead.' });
  });

  it('a soul that was never anybody cannot be done as itself', async () => {
    const parsed = await read(new Blob(['I am.']));
    expect(() => adopt({ as: 'itself', parsed, name: null, position: null, clock: clock(), newId })).toThrow(
      'never anybody',
    );
  });
});
