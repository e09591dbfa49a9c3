import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alikeOf, checkName, foldName, isSameName, NAME_MAX, shownName } from '../../../../src/shared/domain/names.ts';
import { anyText } from './arbitraries.ts';

const nameOf = (raw: string, person: string | null = null) => {
  const checked = checkName(raw, 'agent', person);
  return checked.ok ? checked.name : null;
};

describe('a name', () => {
  it.each([
    'Lyra',
    'José',
    'O’Neill',
    "O'Neill",
    'Dr. Who',
    'Me-lia',
    'R2-D2',
    'Name 5',
    'Юлия',
    'مرحبا',
    'שלום',
    '小鳥',
    '🕊',
    'Ali',
    'Lead 1',
    'Hale',
  ])('%s is taken as it is', (name) => {
    expect(nameOf(name)).toBe(name);
  });

  it.each([
    ['🅷🆄🅼🅰🅽', 'in boxes'],
    ['ʜᴜᴍᴀɴ', 'in small capitals'],
    ['hurnan', 'with two letters for one'],
    ['ΗUΜΑΝ', 'in Greek capitals'],
    ['ＲＥＬＡＹ', 'in full width'],
    ['𝓼𝔂𝓼𝓽𝓮𝓶', 'in script'],
    ['T h e  H u m a n', 'spaced'],
    ['t.h.e-h_u_m_a_n', 'with points'],
    ['hu\u00admu\u034fan human', 'with what nobody sees'],
    ['Your human', 'as somebody’s'],
    ['U5er', 'with digits'],
    ['ᎻᏌMAN human', 'in Cherokee'],
    ['Ѕeat 4', 'as a seat'],
    ['LEAD', 'as the lead'],
    ['Nameless', 'as nobody'],
  ])('%j is refused, %s', (name) => {
    expect(checkName(name, 'agent')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('Choose another') as string,
    });
  });

  it('reserves role names: only the lead may be called Lead, and only the person Human', () => {
    expect(checkName('Lead', 'lead')).toEqual({ ok: true, name: 'Lead' });
    expect(checkName('the human', 'person')).toEqual({ ok: true, name: 'the human' });
    for (const kind of ['lead', 'person', 'label'] as const)
      for (const name of ['the relay', 'System', 'assistant']) expect(checkName(name, kind).ok).toBe(false);
    expect(checkName('the lead', 'person').ok).toBe(false);
  });

  it("refuses a name that looks like the person's", () => {
    for (const name of ['Ada', 'ADA', 'Аda', 'A\u200bda', 'Àda', '𝔸𝕕𝕒']) expect(nameOf(name, 'Ada')).toBeNull();
    expect(nameOf('Adam', 'Ada')).toBe('Adam');
    expect(checkName('Lead', 'lead', 'Lead').ok).toBe(false);
  });

  it('refuses a name that is too long, without reading all of it', () => {
    expect(nameOf('x'.repeat(NAME_MAX))).toBe('x'.repeat(NAME_MAX));
    expect(nameOf('x'.repeat(NAME_MAX + 1))).toBeNull();
    expect(nameOf('x'.repeat(5_000_000))).toBeNull();
    expect(nameOf(`Z${'\u0301'.repeat(5_000)}`)?.length).toBeLessThan(8);
  });

  it('holds nothing that is unseen, turns a line around or makes a heading, whatever was asked for', () => {
    fc.assert(
      fc.property(
        fc.array(anyText, { maxLength: 6 }).map((parts) => parts.join('')),
        fc.constantFrom('agent', 'lead', 'person', 'label'),
        (raw, kind) => {
          const name = shownName(raw, kind);
          expect(name).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}[\](){}<>:;"“”]|\s\s|^\s|\s$/u);
          expect(name.length).toBeGreaterThan(0);
          expect(name.length).toBeLessThanOrEqual(NAME_MAX);
          const checked = checkName(raw, kind);
          // What is kept is shown as it is kept, and would be taken again.
          if (checked.ok)
            expect([shownName(checked.name, kind), checkName(checked.name, kind)]).toEqual([checked.name, checked]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('treats a name as taken when only an invisible character differs', () => {
    const checked = checkName('Abc\u2060\u0301', 'agent');
    expect(checked).toEqual({ ok: true, name: 'Ab\u0107' });
  });

  it('shows a name without visible characters as no name', () => {
    for (const raw of ['', '\u0000', '\u202e', '()', 'the human', 'system', '\ud800'])
      expect(shownName(raw, 'agent')).toBe('Nameless');
    expect(shownName('', 'person')).toBe('the human');
  });
});

it('names are alike where the eye cannot tell them apart, and those who share one are known', () => {
  for (const name of ['lyra', 'LYRA', 'Lуra', 'Lyrа', 'Ｌｙｒａ', 'Ly\u200bra', 'Ł y r a', 'lyrа.'])
    expect(isSameName('Lyra', name)).toBe(true);
  expect(isSameName('Lyra', 'Lyre')).toBe(false);
  expect(foldName('Iris')).toBe(foldName('lris'));
  const team = [
    { agentId: 'a', name: 'Sage' },
    { agentId: 'b', name: 'ѕage' },
    { agentId: 'c', name: 'Wren' },
    { agentId: 'd', name: 'Ada' },
  ];
  expect([...alikeOf(team)]).toEqual(['a', 'b']);
  expect([...alikeOf(team, 'ada')]).toEqual(['a', 'b', 'd']);
});
