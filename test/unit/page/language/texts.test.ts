/** The texts of the page: marked in its code, whole in every catalogue, and found by `t`. */
import { createElement, Fragment, isValidElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sentence } from '../../../../src/shared/domain/names.ts';
import { type Spoken, STORED, TEXTS, type Texts } from '../../../../src/page/language/t.ts';
import { readMcpServers } from '../../../../src/shared/protocol/mcp-settings.ts';
import { PROBLEMS } from '../../../../src/shared/protocol/problems.ts';
import { recoveryOf } from '../../../../src/worker/sync/crypto/index.ts';
import { catalogueOf, faultsOf, textsOfPage } from '../../../support/texts.ts';

const found = textsOfPage();

describe('the texts of the page', () => {
  it('marks every text that people read or hear, so that each can be translated', () => {
    expect(found.unmarked).toEqual([]);
    expect(found.marked.length).toBeGreaterThan(2_000);
  });

  it.each(Object.keys(TEXTS))('lists every text in the catalogue of %s with its values, and no unused one', (code) => {
    expect(faultsOf(code, catalogueOf(code), found)).toEqual([]);
  });

  it('detects a catalogue with a missing, additional or different text', () => {
    const marked = ['Wake {0}', '{0} egg|{0} eggs', 'Close'].map((key) => ({ key, at: 'here:1' }));
    const texts: Texts = { 'Wake {0}': '{1} wecken', '{0} egg|{0} eggs': { one: '{0} Ei' }, Open: 'Öffnen' };
    expect(faultsOf('de', texts, { marked, unmarked: [] })).toEqual([
      'lacks (here:1): Close',
      'has other holes: Wake {0}',
      'has no form for each of one, other: {0} egg|{0} eggs',
      'in vain: Open',
    ]);
  });
});

/** The page's own `t`, in a browser that keeps these texts and asks for these languages. */
async function speaking(languages: readonly string[], kept: Partial<Spoken> | null, chosen: string | null = null) {
  const items: Record<string, string | null> = {
    [STORED.texts]: kept && JSON.stringify({ locale: 'de-DE', direction: 'ltr', ...kept }),
    [STORED.chosen]: chosen,
  };
  vi.stubGlobal('localStorage', { getItem: (name: string) => items[name] ?? null });
  vi.stubGlobal('navigator', { languages });
  vi.resetModules();
  return {
    ...(await import('../../../../src/page/language/t.ts')),
    ...(await import('../../../../src/page/language/t.ts')),
    ...(await import('../../../../src/page/language/t.ts')),
  };
}
afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});
const german = (texts: Texts) => ({ language: 'de', url: TEXTS['de'] ?? '', texts });
const shown = (node: ReactNode) => renderToStaticMarkup(createElement(Fragment, null, node));

describe('a text', () => {
  it('stands in English where no other language is wanted, is known, or is kept', async () => {
    for (const [languages, kept] of [
      [['en-US', 'de'], german({ 'Wake {0}': '{0} wecken' })],
      [['fr', 'pt-BR'], null],
      [['de-AT'], null],
      [['de'], { ...german({}), language: 'fr' }],
    ] as const) {
      const { t, spoken } = await speaking(languages, kept);
      expect([spoken.language, t`Wake ${'Lyra'}`]).toEqual(['en', 'Wake Lyra']);
    }
  });

  it('uses the first available language of the browser, or the chosen one', async () => {
    const kept = german({ 'Wake {0}': '{0} wecken' });
    expect((await speaking(['fr', 'de-AT', 'en'], kept)).t`Wake ${'Lyra'}`).toBe('Lyra wecken');
    expect((await speaking(['en'], kept, 'de')).t`Wake ${'Lyra'}`).toBe('Lyra wecken');
    expect((await speaking(['de'], kept, 'en')).t`Wake ${'Lyra'}`).toBe('Wake Lyra');
    // A language that an older Roost knew, or that somebody typed in.
    expect((await speaking(['en'], kept, 'tlh')).t`Wake ${'Lyra'}`).toBe('Wake Lyra');
  });

  it('puts values where the language wants them, words as words and elements as elements', async () => {
    const { t } = await speaking(
      ['de'],
      german({ '{0} asked {1} for {2}': 'Um {2} bat {0}, und zwar {1}', 'Press {0}': '{0} drücken' }),
    );
    expect(t`${'Lyra'} asked ${'Wren'} for ${2}`).toBe('Um 2 bat Lyra, und zwar Wren');
    const node = t`Press ${createElement('kbd', null, 'Esc')}`;
    expect(isValidElement(node)).toBe(true);
    expect(shown(node)).toBe('<kbd>Esc</kbd> drücken');
    // What a person is called is never taken for a hole.
    expect(t`Press ${'{0}'}`).toBe('{0} drücken');
    expect(t`Not in the catalogue: ${'{0}'}`).toBe('Not in the catalogue: {0}');
  });

  it('bends with a number as its language does', async () => {
    const polish = { few: '{0} wiadomości', many: '{0} wiadomości (dużo)', one: '{0} wiadomość', other: '{0}?' };
    const { counted } = await speaking(['de'], {
      ...german({ '{0} message|{0} messages': polish }),
      locale: 'pl-PL',
    });
    const said = (value: number) => counted(value, String(value), 'message', 'messages');
    expect([1, 3, 5].map(said)).toEqual(['1 wiadomość', '3 wiadomości', '5 wiadomości (dużo)']);
    const english = await speaking(['en'], null);
    expect([1, 2].map((n) => english.counted(n, String(n), 'message', 'messages'))).toEqual([
      '1 message',
      '2 messages',
    ]);
  });

  it('is fetched again for another build, and when nothing is stored', async () => {
    expect((await speaking(['de'], german({}))).lacksTexts()).toBe(false);
    expect((await speaking(['de'], { ...german({}), url: '/assets/de-old.json' })).lacksTexts()).toBe(true);
    expect((await speaking(['de'], null)).lacksTexts()).toBe(true);
    expect((await speaking(['en'], null)).lacksTexts()).toBe(false);
  });
});

describe('what is said in English where no page is', () => {
  const key = sentence`${'127.0.0.1:11434'} did not accept the key. Change the key under “Connect a model”.`;
  const waits = sentence`It waits in the inbox. ${key}`;

  it('finds an English text by its form, with values that may be such texts themselves', async () => {
    const { retold } = await speaking(['de'], german(catalogueOf('de')));
    expect(retold(key)).toBe(
      '127.0.0.1:11434 hat den Schlüssel nicht angenommen. Ändere den Schlüssel unter „Modell verbinden“.',
    );
    expect(retold(waits)).toBe(`Es wartet im Posteingang. ${retold(key)}`);
    expect(retold('It said nothing for 120 s.')).toBe('Er hat 120 s lang nichts gesagt.');
    expect((await speaking(['en'], null)).retold(waits)).toBe(waits);
  });

  it('translates texts that read a phrase or settings in the language of the page', async () => {
    const { retold } = await speaking(['de'], german(catalogueOf('de')));
    const words = Array.from({ length: 24 }, () => 'able');
    const wrong = (phrase: string) => {
      const read = recoveryOf(phrase);
      return read.ok ? '' : retold(read.reason);
    };
    expect(wrong(words.with(2, 'abel').join(' '))).toBe(
      'Wort 3, „abel“, steht nicht in der Liste. Ähnliche Wörter: able, label.',
    );
    expect(wrong('able')).toBe('Ein Wiederherstellungssatz hat 24 Wörter. Du hast 1 eingegeben.');
    const pasted = readMcpServers('{ "mcpServers": ');
    expect(pasted.ok ? '' : retold(pasted.reason)).toBe('Das ist kein gültiges JSON. Füge alles ein, von { bis }.');
  });

  it('finds a refusal by its code, for each that the relay sends, and keeps an unknown one', async () => {
    const { retold } = await speaking(['de'], german(catalogueOf('de')));
    const english = 'These are the relay’s own words.';
    for (const name of PROBLEMS) expect(retold(english, `about:roost/${name}`)).toMatch(/^[A-ZÄÖÜ„][^]*[a-zäöüß]{3}/);
    expect(retold(english, 'about:roost/too-many')).not.toContain(english);
    expect(retold(english, 'about:roost/too-many-models')).toBe(retold(english, 'about:roost/too-many'));
    expect(retold(english, 'about:roost/no-answer')).toBe(english);
    expect(retold(key, 'about:roost/no-answer')).toBe(retold(key));
    expect(retold(english, 'about:roost/of-a-newer-relay')).toBe(english);
    expect(retold('What $& costs: {0}', 'about:roost/misfit')).toBe('Das passt nicht: What $& costs: {0}');
  });
});
