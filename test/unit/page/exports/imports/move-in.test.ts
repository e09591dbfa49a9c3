import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { IMPORTS } from '../../../../../src/page/exports/imports/settings.ts';
import { parseDocument } from '../../../../../src/shared/protocol/documents.ts';
import { isKnown } from '../../../../../src/shared/protocol/documents/kinds.ts';
import { parseStamp } from '../../../../../src/shared/domain/stamp.ts';
import { chatGptAsked, chatGptConversation, chatGptSaid, chatGptShort } from '../../../../support/other-exports.ts';
import { exportsHere, memoryLedger } from '../support.ts';
import { chosenFiles, readAll } from './support.ts';

const TREE = chatGptConversation('tree', [
  { id: 'root', parent: null },
  chatGptAsked('q', 'root', 'Hm?', 5),
  chatGptSaid('a', 'q', 'Old.', 3),
  chatGptSaid('b', 'q', 'New.', 9),
]);
const FILES = chosenFiles({ 'conversations.json': [TREE, chatGptShort('short', 'Hello?', 'Hello!')] });

async function moveIn(ledger: ReturnType<typeof memoryLedger>, agentId: string, append = ledger.append) {
  const { conversations } = await exportsHere().readMoveIn(FILES);
  const sessionIds = conversations.map(({ sessionId }) => sessionId);
  return exportsHere().moveIn({ files: FILES, agentId, sessionIds }, { append, compare: ledger.compare });
}

describe('an imported conversation', () => {
  it('makes one session with valid documents, stamped in order even where times are not', async () => {
    const ledger = memoryLedger();
    expect(await moveIn(ledger, 'a1')).toEqual({ conversations: 3, documents: 12, written: 12, forgotten: 0 });
    const docs = [...ledger.documents.values()].map((doc) => parseDocument(doc));
    const starts = docs
      .filter(isKnown)
      .flatMap((doc) => (doc.type === 'session' && doc.phase.kind === 'start' ? [doc.phase] : []));
    expect(starts).toMatchObject([
      { mind: 'import', model: 'gpt-5', imported: { from: 'ChatGPT', title: 'About tree' } },
      { imported: { from: 'ChatGPT', title: 'About tree', branchOf: expect.stringMatching(/^import-/) } },
      { imported: { from: 'ChatGPT', title: 'About short' } },
    ]);
    const stamps = docs.filter(({ type }) => type === 'message').map(({ at }) => at);
    expect(new Set(stamps).size).toBe(6);
    expect(stamps.map((at) => parseStamp(at) !== null)).not.toContain(false);
    const branch = docs.filter((doc) => doc.type === 'message' && doc['sessionId'] === docs[4]?.['sessionId']);
    expect(branch.map(({ at }) => at)).toEqual(branch.map(({ at }) => at).toSorted());
  });

  it('changes nothing when it is imported again, and is its own for another agent', async () => {
    const ledger = memoryLedger();
    await moveIn(ledger, 'a1');
    const before = JSON.stringify([...ledger.documents]);
    expect(await moveIn(ledger, 'a1')).toMatchObject({ documents: 12, written: 0 });
    expect(JSON.stringify([...ledger.documents])).toBe(before);
    expect(await moveIn(ledger, 'a2')).toMatchObject({ written: 6 });
  });

  it('completes an import that failed in the middle when it runs again', async () => {
    const whole = memoryLedger();
    await moveIn(whole, 'a1');
    const ledger = memoryLedger();
    const failing = async (docs: Parameters<typeof ledger.append>[0]) => {
      await ledger.append(docs.slice(0, 5));
      throw new Error('The tab was killed.');
    };
    await expect(moveIn(ledger, 'a1', failing)).rejects.toThrow('The tab was killed.');
    expect(ledger.documents.size).toBe(5);
    await moveIn(ledger, 'a1');
    expect([...ledger.documents.keys()].toSorted()).toEqual([...whole.documents.keys()].toSorted());
  });

  it('stays away where it was forgotten', async () => {
    const whole = memoryLedger();
    await moveIn(whole, 'a1');
    const [gone = ''] = [...whole.documents.keys()].filter((id) => id.startsWith('message:'));
    expect(await moveIn(memoryLedger([], new Set([gone])), 'a1')).toMatchObject({ written: 11, forgotten: 1 });
  });
});

describe('a hostile or broken export', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it.each([
    ['text that is no JSON', '[{"mapping": nonsense}]', 'not valid JSON'],
    ['an end in the middle', '[{"mapping": {"a', 'not valid JSON'],
    ['a million levels', `[{"mapping": {"a": ${deep(1_000_000)}}}]`, 'too large'],
    ['an unknown object', '[{"x": 1}]', 'entries and files in an unknown format'],
    ['nothing', '', 'it is empty'],
  ])('refuses a file with %s, with its name and the reason', async (_what, content, reason) => {
    await expect(exportsHere().readMoveIn(chosenFiles({ 'bad.json': content }))).rejects.toThrow(
      content === '' ? /bad\.json/ : `There is nothing to import in bad.json: ${reason}.`,
    );
  });

  it('leaves what is whole beside what is broken', async () => {
    const good = JSON.stringify(chatGptShort('good', 'Hello?', 'Hello!'));
    const { conversations, notTaken } = await readAll({
      'c.json': `[${good}, {"mapping": ]}, 7, "x", ${good.slice(0, 80)}`,
    });
    expect(conversations.map(({ sourceId }) => sourceId)).toEqual(['good']);
    expect(notTaken.length).toBeGreaterThan(0);
  });

  it('changes no prototype and throws nothing on `__proto__` and nodes of wrong types', async () => {
    const odd =
      '{"title":7,"conversation_id":"odd","mapping":{"__proto__":{"parent":5,"message":{"author":"x","content":null}},"constructor":null,"n":[1],"m":{"parent":"m","children":7,"message":{"author":{"role":"user"},"create_time":1e300,"content":{"content_type":"text","parts":[null,{"polluted":1},"Hello"]}}}}}';
    const { conversations } = await readAll({ 'c.json': `[${odd}]` });
    expect(conversations.map(({ title, messages }) => [title, messages.length])).toEqual([['', 1]]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('skips a value beyond the limit and reads the next one', async () => {
    const good = JSON.stringify(chatGptShort('good', 'Hello?', 'Hello!'));
    const huge = `{"mapping": {"a": "${' '.repeat(IMPORTS.valueBytes)}"}}`;
    const { conversations, notTaken } = await readAll({ 'c.json': `[${huge}, ${good}]` });
    expect(conversations.map(({ sourceId }) => sourceId)).toEqual(['good']);
    expect(notTaken).toEqual([['too large', 1]]);
  });

  it('refuses a damaged zip by its name', async () => {
    const zip = zipSync({ 'conversations.json': strToU8('[]') });
    await expect(exportsHere().readMoveIn(chosenFiles({ 'export.zip': zip.subarray(0, 40) }))).rejects.toThrow(
      /^The zip export\.zip cannot be read: /,
    );
  });

  /** Of a zip with one file. */
  const changed = (zip: Uint8Array, change: (header: DataView, at: { central: number }) => void) => {
    const bytes = zip.slice();
    const view = new DataView(bytes.buffer);
    let central = 0;
    while (view.getUint32(central, true) !== 0x02014b50) central += 1;
    change(view, { central });
    return bytes;
  };

  it('names a zip locked with a password, and says what to do', async () => {
    const locked = changed(zipSync({ 'conversations.json': strToU8('[]') }), (view, { central }) => {
      view.setUint16(central + 8, 1, true);
      view.setUint16(6, 1, true);
    });
    const { notTaken } = await readAll({ 'export.zip': locked, 'good.md': 'Good.' });
    expect(notTaken).toEqual([[expect.stringMatching(/has a password/), 1]]);
  });

  it.each([
    ['conversations.json', `[${' '.repeat(100_000)}]`],
    ['notes.md', 'word '.repeat(10_000)],
  ])('leaves out a part that unpacks to a larger %s than its directory says', async (path, content) => {
    const lying = changed(zipSync({ [path]: strToU8(content) }), (view, { central }) =>
      view.setUint32(central + 24, 10, true),
    );
    const { files, notTaken } = await readAll({ 'export.zip': lying, 'good.md': 'Good.' });
    expect(files.map(({ text }) => text)).toEqual(['Good.']);
    expect(notTaken).toEqual([['parts of a file that is too large', 1]]);
  });

  it('stops at the first text of 64 MB that a zip unpacks to', async () => {
    const bomb = zipSync({ 'notes.md': new Uint8Array(64 * 1024 * 1024).fill(0x61), 'good.md': strToU8('Good.') });
    expect(bomb.length).toBeLessThan(100_000);
    const { files, notTaken } = await readAll({ 'export.zip': bomb });
    expect(files.map(({ path }) => path)).toEqual(['text-files/good.md']);
    expect(notTaken).toEqual([[expect.stringMatching(/^texts over/), 1]]);
  });

  it('reads 20,000 messages after as many system nodes in one pass', async () => {
    const nodes = Array.from({ length: 40_000 }, (_, n) => ({
      ...{ id: `n${n}`, parent: n === 0 ? null : `n${n - 1}`, after: n },
      role: n < 20_000 ? 'system' : 'user',
      content: { content_type: 'text', parts: ['x'] },
    }));
    const { conversations } = await readAll({ 'c.json': [chatGptConversation('long', nodes)] });
    expect(conversations[0]?.messages).toHaveLength(20_000);
  });
});
