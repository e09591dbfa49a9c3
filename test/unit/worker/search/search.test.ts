import { describe, expect, it } from 'vitest';
import type { Doc, MessageDoc } from '../../../../src/shared/protocol/documents.ts';
import { LIMITS } from '../../../../src/shared/protocol/limits.ts';
import type { SearchQuery } from '../../../../src/shared/protocol/search.ts';
import { SEARCH } from '../../../../src/worker/search/settings.ts';
import { changeDoc, identityDoc, messageDoc, queuedDoc } from '../../../support/documents.ts';
import { generateHousehold } from '../../../support/household-generator.ts';
import { createMemoryIndex, createMemoryLedger, searchOver, type MemoryIndex } from '../../../support/search.ts';

const said = (n: number, text: string, more: Partial<MessageDoc> = {}) =>
  messageDoc(n, { blocks: [{ kind: 'text', text }], ...more });

const planned = (n: number, schedule: Record<string, string>, removed = false): Doc => ({
  _id: `schedule:s${n}:x`,
  type: 'schedule',
  schema: 1,
  at: messageDoc(n).at,
  recordId: `s${n}`,
  value: { removed, schedule: { agentId: 'a1', ...schedule } },
});

/** A search over these documents, settled. */
async function over(docs: readonly Doc[]) {
  const memory = createMemoryLedger(docs);
  const index = createMemoryIndex();
  const search = searchOver(memory, () => index);
  await search.settled();
  const find = async (text: string, more: Partial<SearchQuery> = {}) =>
    (await search.find({ text, limit: 20, ...more })).hits;
  const ids = async (text: string, more?: Partial<SearchQuery>) =>
    (await find(text, more)).map(({ messageId }) => messageId);
  return { memory, index, search, find, ids };
}
/** Everything that stands in the words of an index. */
const wordsOf = (index: MemoryIndex) =>
  [...index.parts].flatMap(([key, bytes]) => (key.includes('terms') ? [new TextDecoder().decode(bytes)] : [])).join('');

describe('What is found', () => {
  it('ranks the whole sentence before documents with only its words, and marks its place', async () => {
    const { find } = await over([
      said(1, 'The mill is old, and by the river we never met.'),
      said(2, 'Well.\n\nWe met by the **old mill** at noon, remember? I do.'),
      said(3, 'Nothing of the kind.'),
    ]);
    const [first, second, ...rest] = await find('met by the old mill');
    expect(first).toMatchObject({ kind: 'message', messageId: 'm2', agentId: 'a1', author: 'human' });
    expect(second?.messageId).toBe('m1');
    expect(rest).toEqual([]);
    const { text, marks } = first?.passage ?? { text: '', marks: [] };
    expect(marks.map(([from, to]) => text.slice(from, to))).toEqual(['met', 'by', 'the', 'old', 'mill']);
    expect(text).toBe('… We met by the **old mill** at noon, remember? I do.');
  });

  it('ranks the text as it was typed first, also before newer messages', async () => {
    const { ids } = await over([
      said(1, 'Bread before rain, she said.'),
      said(2, 'Rain before bread, he said.'),
      said(3, 'Before bread, rain.'),
    ]);
    expect((await ids('bread before rain'))[0]).toBe('m1');
    expect((await ids('rain before bread'))[0]).toBe('m2');
  });

  it('finds words by their beginnings while they are typed', async () => {
    const { ids } = await over([said(1, 'The lighthouse keeper'), said(2, 'A light snow')]);
    expect(await ids('li')).toHaveLength(2);
    expect(await ids('lighth')).toEqual(['m1']);
    expect(await ids('keep lig')).toEqual(['m1']);
    // A single letter more takes nothing away.
    expect(await ids('lighthouse k')).toEqual(['m1']);
  });

  it.each([
    ['lighthuose', 'letters swapped'],
    ['lihthouse', 'one left out'],
    ['lightthouse', 'one too many'],
    ['ligthhous', 'wrong and not yet whole'],
    ['ilghthouse', 'the first two swapped'],
  ])('finds “%s”: %s', async (typed) => {
    const { ids } = await over([said(1, 'The lighthouse keeper'), said(2, 'A light snow')]);
    expect(await ids(typed)).toEqual(['m1']);
  });

  it('ignores case, accents and character widths', async () => {
    const { ids } = await over([
      said(1, 'Die Straße nach Łódź, naïve Übung'),
      said(2, 'Ｒｏｏｓｔ ２０２６'),
      said(3, 'ἌΝΘΡΩΠΟΣ και λόγος'),
      said(4, 'مُحَمَّد'),
    ]);
    for (const typed of ['strasse', 'LODZ', 'naive ubung', 'straße']) expect(await ids(typed)).toEqual(['m1']);
    expect(await ids('roost 2026')).toEqual(['m2']);
    expect(await ids('ανθρωπος λογος')).toEqual(['m3']);
    expect(await ids('محمد')).toEqual(['m4']);
  });

  it('finds any part of a run in scripts without spaces, and marks it', async () => {
    const { ids, find } = await over([
      said(1, '東京都庁の前で会いましょう。'),
      said(2, '京都は雪です'),
      said(3, 'พรุ่งนี้ฝนจะตกหนักที่กรุงเทพ'),
      said(4, 'ﾛｰｽﾄでコーヒーを飲む'),
      said(5, '𠮷野家で待つ'),
    ]);
    expect(await ids('都庁')).toEqual(['m1']);
    expect(new Set(await ids('京都'))).toEqual(new Set(['m1', 'm2']));
    expect(new Set(await ids('京'))).toEqual(new Set(['m1', 'm2']));
    expect(await ids('都庁の前')).toEqual(['m1']);
    expect(await ids('ฝนจะตก')).toEqual(['m3']);
    expect(await ids('กรุง')).toEqual(['m3']);
    expect(await ids('コーヒー')).toEqual(['m4']);
    expect(await ids('ロースト')).toEqual(['m4']);
    expect(await ids('𠮷野')).toEqual(['m5']);
    const [hit] = await find('都庁の前');
    const [mark] = hit?.passage.marks ?? [];
    expect(hit?.passage.text.slice(...(mark ?? [0, 0]))).toBe('都庁の前');
  });

  it.each([
    ['UserName is what it is called', ['name', 'Name', 'username', 'UserName', 'user', 'nam']],
    ['It throws in HttpRequest.send', ['request', 'Requ', 'httprequest', 'http']],
    ['parseJSONBody failed', ['json', 'body', 'jsonb', 'parsejson']],
    ['iPhone15Pro, base64Encode', ['phone', 'pro', 'encode', '15pro', '64']],
    ['ÜberGröße und größenWahn', ['größe', 'grosse', 'wahn']],
    ['데이터베이스를 백업했다', ['베이스', '데이터', '데이터베이스', '터베', '백', '데이터 베이스']],
    ['每次FullGC后内存下降', ['gc后', 'GC', '后', '内存', 'full', 'gc后内存']],
    ['第3章：React组件', ['组件', 'react组件', '3章', '3', 'react']],
    ['It cost 1,234.56 in all', ['1234', '1,234.56', '1234.56', '1,234', '123', '56']],
    ['Es kostet 1.234.567,89 Euro', ['1234567', '1.234.567,89', '1 234 567'.replaceAll(' ', '\u202f')]],
    ['Das sind 12’345 Franken', ['12345', '12’345']],
    ['12\u00a0345 roubles', ['12345']],
    ['It is well-known here', ['wellknown', 'well-known', 'well', 'known', 'wellkn']],
    ['a state-of-the-art e\u2011mail, don’t you think', ['stateoftheart', 'email', 'dont', "don't"]],
    ['Donau\u00addampf\u00adschiff', ['donaudampfschiff', 'donaudampf']],
    ['snake_case in node.js', ['snakecase', 'snakeCase', 'nodejs']],
    ['می\u200cخواهم', ['میخواهم', 'می\u200cخواهم']],
  ])('finds words by the words inside them, and as one word: %s', async (text, all) => {
    const { find } = await over([said(1, text), said(2, 'Nothing of the kind.')]);
    for (const typed of all) {
      const hits = await find(typed);
      expect([typed, hits.map(({ messageId }) => messageId)]).toEqual([typed, ['m1']]);
      expect([typed, hits[0]?.passage.marks.length]).not.toEqual([typed, 0]);
    }
  });
  it('marks where the inner word begins', async () => {
    const { find } = await over([said(1, 'The UserName is well-known: 1,234.56')]);
    const marked = async (typed: string) => {
      const { text, marks } = (await find(typed))[0]?.passage ?? { text: '', marks: [] };
      return marks.map((mark) => text.slice(...mark));
    };
    expect(await marked('name')).toEqual(['Name']);
    expect(await marked('wellknown')).toEqual(['well-known']);
    expect(await marked('1234')).toEqual(['1,234']);
  });
  it('does not find the middle or end of a word where no inner word begins', async () => {
    const { ids } = await over([said(1, 'username, a3f9c2e1b7d4a3f9c2e1b7d4a3f9c2e1b7d4a3f9c2e1, 1234567')]);
    for (const typed of ['name', 'd4a3f9c2', '4567']) expect([typed, await ids(typed)]).toEqual([typed, []]);
  });
  it('finds an emoji with any skin tone or variant', async () => {
    const { ids } = await over([
      said(1, 'Done 🎉🎉'),
      said(2, 'Well done 👍🏽'),
      said(3, 'I ❤️ it ✅'),
      said(4, 'From 🇩🇪 with 👩‍💻'),
      said(5, 'No sign at all'),
    ]);
    expect(await ids('🎉')).toEqual(['m1']);
    expect(await ids('👍')).toEqual(['m2']);
    expect(await ids('👍🏿')).toEqual(['m2']);
    expect(await ids('❤')).toEqual(['m3']);
    expect(await ids('✅')).toEqual(['m3']);
    expect(await ids('🇩🇪')).toEqual(['m4']);
    expect(await ids('👩‍💻')).toEqual(['m4']);
    expect(await ids('done 🎉')).toEqual(['m1']);
    expect(await ids('🦉')).toEqual([]);
  });

  it('lets an agent find only its own conversation and threads', async () => {
    const inThread = (threadId: string, sequence: number, agentId: string | null, text: string): Doc => ({
      _id: `thread-message:${threadId}:${sequence}`,
      type: 'thread-message',
      schema: 1,
      at: messageDoc(20 + sequence).at,
      recordId: `${threadId}:${sequence}`,
      ...(agentId === null ? {} : { agentId }),
      value: { threadId, sequence, messageId: `${threadId}-${sequence}`, time: 1_000 * sequence, text },
    });
    const { search, memory } = await over([
      identityDoc(1, 'a1', 0, 'I keep herons.'),
      { ...queuedDoc(2, 'a1'), text: 'herons, later' },
      said(3, 'herons for the first', { agentId: 'a1' }),
      said(4, 'herons for the second', { agentId: 'a2', author: 'a2' }),
      said(5, 'herons that were forgotten', { agentId: 'a1' }),
      inThread('t1', 1, 'a2', 'herons among us'),
      inThread('t2', 7, 'a1', 'herons in a thread that it left'),
      inThread('t3', 1, null, 'herons of others'),
      // More than are read of the best.
      ...Array.from({ length: SEARCH.readMost + 10 }, (_, n) =>
        said(100 + n, 'herons', { agentId: 'a2', author: 'a2' }),
      ),
    ]);
    memory.hidden.add(messageDoc(5)._id);
    const asked = {
      searchId: 's',
      agentId: 'a1',
      text: 'herons',
      conversation: true,
      threads: ['t1'],
      author: null,
      since: null,
      limit: 10,
    } as const;
    const found = async (more: object = {}) =>
      (await search.findFor({ ...asked, ...more })).passages.map(({ text }) => text).sort();
    expect(await found()).toEqual(['herons among us', 'herons for the first']);
    expect(await found({ conversation: false })).toEqual(['herons among us']);
    expect(await found({ threads: [] })).toEqual(['herons for the first']);
    expect(await found({ conversation: false, threads: [] })).toEqual([]);
    expect(await found({ author: 'a2' })).toEqual(['herons among us']);
    const { state, passages } = await search.findFor({ ...asked, conversation: false });
    expect({ state, passages }).toEqual({
      state: 'ready',
      passages: [{ author: 'a2', time: 1_000, threadId: 't1', sequence: 1, text: 'herons among us' }],
    });
  });

  it('says that there may be more where not all that fits was read, however little of that may be shown', async () => {
    const docs = Array.from({ length: SEARCH.readMost + 10 }, (_, n) => said(100 + n, 'herons'));
    const { search, memory } = await over([...docs, said(50, 'herons among us')]);
    for (const { _id } of docs) memory.hidden.add(_id);
    expect((await search.find({ text: 'herons', limit: 20 })).more).toBe(true);
    expect((await search.find({ text: 'herons among', limit: 20 })).more).toBe(false);
  });

  it('gives an agent the words around a hit, within the limit', async () => {
    const { search } = await over([
      said(1, `${'reeds and rushes, '.repeat(200)}a heron, ${'and water. '.repeat(200)}`),
    ]);
    const { passages } = await search.findFor({
      searchId: 's',
      agentId: 'a1',
      text: 'heron',
      conversation: true,
      threads: [],
      author: null,
      since: null,
      limit: 10,
    });
    const [{ text } = { text: '' }] = passages;
    expect(text).toContain(' a heron, and water.');
    expect(text.length).toBeLessThanOrEqual(LIMITS.searchPassage);
    expect(text.length).toBeGreaterThan(LIMITS.searchPassage / 2);
  });

  it('ranks answers to a whole question before hits with fewer of its words', async () => {
    const { search } = await over([
      ...Array.from({ length: 200 }, (_, n) => said(n, `How much did you walk for the dog, and where did I go? ${n}`)),
      said(300, 'By the way, the amber kettle is mine now, at 42 euros.'),
      said(301, 'I saw a copper kettle on the market.'),
      said(302, 'The amber light was on.'),
    ]);
    const asked = {
      ...{ searchId: 's', agentId: 'a1', conversation: true, threads: [], author: null, since: null, limit: 10 },
    };
    const found = async (text: string) => (await search.findFor({ ...asked, text })).passages.map((one) => one.text);
    const [first, ...others] = await found('How much did I pay for the amber kettle?');
    expect(first).toContain('42 euros');
    expect(others.filter((text) => text.includes('walk'))).toEqual([]);
    expect(await found('What did the dinosaur cost?')).toEqual([]);
    // A person who types gets what has the words that they typed.
    expect((await search.find({ text: 'How much did I pay for the amber kettle?', limit: 10 })).hits).toEqual([]);
  });

  it('answers only the newest query of a person who types, and drops the earlier ones', async () => {
    const { search } = await over(Array.from({ length: 300 }, (_, n) => said(n, `herons ${n} by the river`)));
    const ask = (text: string, line: string) => search.find({ text, limit: 5, line });
    const [superseded, newest, other] = await Promise.all([
      ask('herons', 'me'),
      ask('river', 'me'),
      ask('herons', 'you'),
    ]);
    expect([superseded.hits.length, newest.hits.length, other.hits.length]).toEqual([0, 5, 5]);
    expect((await ask('herons', 'me')).hits).toHaveLength(5);
  });

  it('allows one missing word of four, and none of three', async () => {
    const { ids } = await over([said(1, 'the heron stood in the reeds at dawn')]);
    expect(await ids('heron reeds dawn marble')).toEqual(['m1']);
    expect(await ids('heron dawn marble')).toEqual([]);
  });

  it('restricts hits to an agent, an author and a time', async () => {
    const { ids } = await over([
      said(2, 'herons by day', { agentId: 'a1', author: 'human' }),
      said(3, 'herons by night', { agentId: 'a1', author: 'a1' }),
      said(4, 'herons again', { agentId: 'a2', author: 'human' }),
    ]);
    expect(await ids('herons', { agentId: 'a1' })).toHaveLength(2);
    expect(await ids('herons', { author: 'human', agentId: 'a1' })).toEqual(['m2']);
    expect(await ids('herons', { since: messageDoc(4).time })).toEqual(['m4']);
    expect(await ids('herons', { author: 'nobody' })).toEqual([]);
  });

  it('finds waiting messages, letters, current souls, threads and schedules', async () => {
    const { find } = await over([
      identityDoc(1, 'a1', 0, 'I keep the old herons.'),
      changeDoc(2, 'a1', { kind: 'soul', individuationArtifact: 'I keep the new herons.' }),
      { ...queuedDoc(3, 'a1'), text: 'herons, later' },
      messageDoc(5, {
        blocks: [
          {
            kind: 'tool',
            toolUseId: 't',
            name: 'message_agent',
            input: { to: 'a2', message: 'Do tell me of herons' },
            result: null,
            isError: false,
          },
        ],
      }),
      {
        _id: 'thread:t1:x',
        type: 'thread',
        schema: 1,
        at: messageDoc(6).at,
        recordId: 't1',
        value: { title: 'Herons and others', createdBy: 'human' },
      },
      {
        _id: 'thread-message:t1:1',
        type: 'thread-message',
        schema: 1,
        at: messageDoc(7).at,
        recordId: 't1:1',
        agentId: 'a1',
        value: { threadId: 't1', sequence: 1, time: messageDoc(7).time, messageId: 'tm1', text: 'All herons?' },
      },
      planned(8, { kind: 'routine', name: 'Morning round', instructions: 'Count the herons.' }),
      planned(9, { kind: 'reminder', name: 'Tea', message: 'The herons are waiting' }),
      planned(10, { kind: 'reminder', name: 'Herons of old', message: 'It is over' }, true),
    ]);
    const kinds = (await find('herons')).map(({ kind, threadId, messageId }) => [kind, threadId ?? messageId]);
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['message', null],
        ['message', 'm5'],
        ['thread', 't1'],
        ['thread-message', 't1'],
        ['soul', null],
      ]),
    );
    const soul = await find('herons', { kinds: ['soul'] });
    expect(new Set(soul.map(({ kind, agentId }) => `${kind} ${agentId}`))).toEqual(new Set(['soul a1']));
    expect(await find('herons', { kinds: ['thread', 'thread-message'] })).toHaveLength(2);
    expect((await find('herons', { kinds: ['schedule'] })).map(({ author }) => author).sort()).toEqual(['a1', 'human']);
    expect(await find('herons', { kinds: ['schedule'], author: 'human' })).toMatchObject([
      { agentId: 'a1', messageId: null, passage: { text: '… Count the herons.' } },
    ]);
    expect((await find('herons', { threadId: 't1' })).map(({ kind }) => kind).sort()).toEqual([
      'thread',
      'thread-message',
    ]);
    expect(await find('herons', { threadId: 't2' })).toEqual([]);
  });

  it('leaves out what may not be seen', async () => {
    const { memory, ids } = await over([said(1, 'a heron'), said(2, 'two herons')]);
    memory.hidden.add('message:m1');
    expect(await ids('heron')).toEqual(['m2']);
  });
});

describe('The index', () => {
  it('follows what is new, and is not asked to wait for it', async () => {
    const { memory, search, ids } = await over([said(1, 'first words')]);
    const doc = said(2, 'second words');
    memory.docs.set(doc._id, doc);
    search.hear([doc]);
    expect(new Set(await ids('words'))).toEqual(new Set(['m1', 'm2']));
  });

  it('merges many segments into few and finds the same', async () => {
    const docs = [...generateHousehold({ seed: 3, messages: 300, lastSession: 1 })].flat();
    const messages = docs.filter((doc): doc is MessageDoc => doc.type === 'message');
    const memory = createMemoryLedger();
    const index = createMemoryIndex();
    const search = searchOver(memory, () => index);
    await search.settled();
    let most = 0;
    for (let at = 0; at < messages.length; at += 10) {
      const some = messages.slice(at, at + 10);
      for (const doc of some) memory.docs.set(doc._id, doc);
      search.hear(some);
      await search.settled();
      most = Math.max(most, (await index.manifest()).segments.length);
    }
    const { segments } = await index.manifest();
    expect(segments.reduce((sum, { documents }) => sum + documents, 0)).toBe(messages.length);
    expect(most).toBeLessThan(2 * SEARCH.segmentsOfSize);
    for (const message of [messages[7], messages[150], messages.at(-1)]) {
      const [block] = message?.blocks ?? [];
      const text = block?.kind === 'text' ? block.text.split(/\s+/).slice(0, 12).join(' ') : '';
      const { hits } = await search.find({ text, limit: 5 });
      expect(hits.map(({ id }) => id)).toContain(message?._id);
    }
  });

  it('lets go of every word of what is forgotten, and keeps the others', async () => {
    const { memory, index, search, ids } = await over([
      ...Array.from({ length: 40 }, (_, n) => said(n, `common words ${n}`)),
      said(50, 'xylophone xylophone', { agentId: 'gone' }),
    ]);
    expect(wordsOf(index)).toContain('xylophone');
    memory.docs.delete('message:m50');
    memory.renew();
    search.hearGone();
    await search.settled();
    expect(wordsOf(index)).not.toContain('xylophone');
    expect(wordsOf(index)).not.toContain('gone');
    expect([...index.parts.values()].some((part) => new TextDecoder().decode(part).includes('m50'))).toBe(false);
    expect(await ids('common words 7')).toContain('m7');
    expect((await index.manifest()).segments.map(({ documents }) => documents)).toEqual([40]);
  });

  it('lets go of it also where nobody heard of it, because the browser was closed just then', async () => {
    const { memory, index } = await over([said(1, 'xylophone'), said(2, 'herons')]);
    memory.docs.delete('message:m1');
    // As many as before, in views that were written anew.
    memory.docs.set('message:m3', said(3, 'reeds'));
    memory.renew();
    const search = searchOver(memory, () => index);
    await search.settled();
    expect(wordsOf(index)).not.toContain('xylophone');
    expect((await search.find({ text: 'reeds', limit: 1 })).hits).toHaveLength(1);
  });

  it('goes on where it was when it was cut off, and takes nothing twice', async () => {
    const docs = Array.from({ length: 30 }, (_, n) => said(n, `herons ${n}`));
    const memory = createMemoryLedger(docs.slice(0, 20));
    const index = createMemoryIndex();
    await searchOver(memory, () => index).settled();
    // Said while nobody listened.
    for (const doc of docs) memory.docs.set(doc._id, doc);
    // And what is told while the two are compared is met there too.
    let told = false;
    const ledger: typeof memory.ledger = {
      ...memory.ledger,
      ids(page) {
        if (!told && page.store === 'messages') search.hear(docs.slice(25));
        told ||= page.store === 'messages';
        return memory.ledger.ids(page);
      },
    };
    const search = searchOver({ ledger }, () => index);
    await search.settled();
    expect((await index.manifest()).segments.map(({ documents }) => documents).reduce((a, b) => a + b)).toBe(30);
    expect((await search.find({ text: 'herons 27', limit: 1 })).hits[0]?.messageId).toBe('m27');
  });

  it.each([
    { missing: 0, compares: false },
    { missing: 1, compares: true },
  ])(
    'compares itself with the ledger at the opening: $compares, when it lacks $missing documents besides the new ones',
    async (given) => {
      const memory = createMemoryLedger([said(1, 'herons'), said(2, 'reeds')]);
      const index = createMemoryIndex();
      await searchOver(memory, () => index).settled();
      const told = said(3, 'otters');
      memory.docs.set(told._id, told);
      if (given.missing > 0) memory.docs.set('message:m4', said(4, 'newts'));
      let compared = false;
      const ledger: typeof memory.ledger = {
        ...memory.ledger,
        ids(page) {
          compared = true;
          return memory.ledger.ids(page);
        },
      };
      const search = searchOver({ ledger }, () => index);
      search.hear([told]);
      await search.settled();
      expect(compared).toBe(given.compares);
      const { segments } = await index.manifest();
      expect(segments.reduce((sum, { documents }) => sum + documents, 0)).toBe(memory.docs.size);
      expect((await search.find({ text: 'otters', limit: 9 })).hits).toHaveLength(1);
    },
  );

  it.each(['a part is missing', 'a part is cut', 'a letter is another'])('rebuilds the index when %s', async (how) => {
    const memory = createMemoryLedger([said(1, 'herons in the reeds')]);
    const indexes: MemoryIndex[] = [];
    const open = () => {
      const fresh = createMemoryIndex();
      indexes.push(fresh);
      return fresh;
    };
    const first = createMemoryIndex();
    await searchOver(memory, () => first).settled();
    for (const [key, bytes] of first.parts)
      if (key.includes('terms')) {
        if (how === 'a part is missing') first.parts.delete(key);
        else if (how === 'a part is cut') first.parts.set(key, bytes.slice(0, 9));
        else bytes[5] = (bytes[5] ?? 0) ^ 1;
      }
    let isFirst = true;
    const search = searchOver(memory, () => {
      const store = isFirst ? first : open();
      isFirst = false;
      return store;
    });
    expect(await search.find({ text: 'herons', limit: 5 })).toMatchObject({
      hits: [],
      state: { kind: 'unavailable', why: 'broken' },
    });
    await search.again();
    expect((await search.find({ text: 'herons', limit: 5 })).hits).toHaveLength(1);
    expect(indexes).toHaveLength(1);
  });

  it('gives way where there is no room, says so, and comes back', async () => {
    const memory = createMemoryLedger([said(1, 'herons')]);
    let isFull = true;
    let dropped = 0;
    const search = searchOver(
      memory,
      () =>
        createMemoryIndex(() => {
          if (isFull) throw new DOMException('no room', 'QuotaExceededError');
        }),
      { dropStore: () => Promise.resolve(void dropped++) },
    );
    expect((await search.find({ text: 'herons', limit: 5 })).state).toEqual({ kind: 'unavailable', why: 'no-room' });
    expect(dropped).toBe(1);
    isFull = false;
    await search.again();
    expect((await search.find({ text: 'herons', limit: 5 })).hits).toHaveLength(1);
    search.hearNoRoom();
    expect((await search.find({ text: 'herons', limit: 5 })).state).toEqual({ kind: 'unavailable', why: 'no-room' });
  });

  it('says how far it is', async () => {
    const memory = createMemoryLedger(Array.from({ length: 200 }, (_, n) => said(n, `herons ${n}`)));
    const index = createMemoryIndex();
    const search = searchOver(memory, () => index);
    const { state } = await search.find({ text: 'herons', limit: 5 });
    expect(['building', 'ready']).toContain(state.kind);
    await search.settled();
    expect((await search.find({ text: 'herons', limit: 5 })).state).toEqual({ kind: 'ready' });
  });
});

describe('While somebody answers', () => {
  it.each([
    [true, SEARCH.restWhileTalking],
    [false, 0],
  ])('(%s) the index rests between its slices, and is whole in the end', async (isTalking, rest) => {
    const memory = createMemoryLedger(Array.from({ length: 200 }, (_none, n) => said(n, `Word${n} of many`)));
    const rests: number[] = [];
    let time = 0;
    const index = createMemoryIndex();
    const search = searchOver(memory, () => index, {
      isTalking: () => isTalking,
      elapsed: () => (time += 1),
      after(ms, run) {
        rests.push(ms);
        const later = setTimeout(run, 0);
        return () => clearTimeout(later);
      },
    });
    await search.settled();
    const slices = rests.filter((ms) => ms === rest);
    expect(slices.length).toBeGreaterThan(5);
    expect(rests.filter((ms) => ms === (isTalking ? 0 : SEARCH.restWhileTalking))).toEqual([]);
    expect((await search.find({ text: 'word199', limit: 5 })).hits.map(({ messageId }) => messageId)).toEqual(['m199']);
  });

  it('the index does not rest while a search waits for the newest messages', async () => {
    const rests: number[] = [];
    let time = 0;
    const search = searchOver(createMemoryLedger([]), createMemoryIndex, {
      isTalking: () => true,
      elapsed: () => (time += SEARCH.slice),
      after(ms, run) {
        rests.push(ms);
        const later = setTimeout(run, ms);
        return () => clearTimeout(later);
      },
    });
    await search.settled();
    rests.length = 0;
    search.hear(Array.from({ length: 3 }, (_none, n) => said(n, `herons ${n}`)));
    await search.find({ text: 'herons', limit: 5 });
    expect(rests.filter((ms) => ms === 0).length).toBeGreaterThan(2);
    expect(rests).not.toContain(SEARCH.restWhileTalking);
  });
});
