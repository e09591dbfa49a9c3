import { describe, expect, it } from 'vitest';
import { complete, meant, mentionedIn, piecesOf, typingAt } from '../../../../src/shared/domain/mentions.ts';

const TEAM = [
  { agentId: 'a', name: 'Lyra' },
  { agentId: 'b', name: 'Lyra Vael' },
  { agentId: 'c', name: 'Søren' },
  { agentId: 'd', name: 'Émile' },
];

describe('While a mention is being typed', () => {
  it.each([
    ['@', 1, { start: 0, query: '' }],
    ['Hello @Ly', 9, { start: 6, query: 'Ly' }],
    ['(@Ly', 4, { start: 1, query: 'Ly' }],
    ['@Lyra V', 7, { start: 0, query: 'Lyra V' }],
  ])('%j at %i is one', (text, caret, typing) => expect(typingAt(text, caret)).toEqual(typing));

  it.each([
    ['nobody', 'Hello', 5],
    ['an address', 'me@home', 7],
    ['what stands on the line above', '@Ly\nand', 7],
    ['what is after the caret', 'Hi @Ly', 2],
    ['what has long been over', `@${'x'.repeat(80)}`, 81],
  ])('%s is none', (_what, text, caret) => expect(typingAt(text, caret)).toBeNull());

  it('lists names that begin with the typed text before names with such a word', () => {
    expect(meant('', TEAM)).toHaveLength(4);
    expect(meant('l', TEAM).map(({ agentId }) => agentId)).toEqual(['a', 'b']);
    expect(meant('va', TEAM).map(({ agentId }) => agentId)).toEqual(['b']);
    expect(meant('em', TEAM).map(({ agentId }) => agentId)).toEqual(['d']);
    expect(meant('lyra v', TEAM).map(({ agentId }) => agentId)).toEqual(['b']);
    expect(meant('zz', TEAM)).toEqual([]);
    expect(meant(' ', TEAM)).toEqual([]);
  });

  it('choosing puts the name in, with a space to go on after it, once', () => {
    expect(complete('Hi @Ly', 6, { start: 3, query: 'Ly' }, { agentId: 'a', name: 'Lyra' })).toEqual({
      text: 'Hi @Lyra ',
      caret: 9,
    });
    expect(complete('Hi @Ly and', 6, { start: 3, query: 'Ly' }, { agentId: 'a', name: 'Lyra' })).toEqual({
      text: 'Hi @Lyra and',
      caret: 9,
    });
  });
});

describe('What was written', () => {
  it('mentions whoever has the longest name that stands there, whatever its case and accents', () => {
    expect(mentionedIn('@Lyra Vael and @lyra, @emile!', TEAM)).toEqual(['b', 'a', 'd']);
    expect(mentionedIn('@Lyra @Lyra', TEAM)).toEqual(['a']);
  });

  it('mentions nobody in a longer word, in an address, or by name alone', () => {
    expect(mentionedIn('@Lyrae me@Lyra Lyra @', TEAM)).toEqual([]);
  });

  it('mentions nobody in code, or in a line that repeats what somebody said', () => {
    expect(mentionedIn('`@Lyra` and ``a ` @Lyra``\n> @Lyra said so\n```\n@Lyra\n```\n~~~ts\n@Lyra', TEAM)).toEqual([]);
    expect(mentionedIn('a ` b @Lyra\n```\n@Émile\n```\nand @Lyra', TEAM)).toEqual(['a']);
  });

  it('mentions nobody by a name that two of them have', () => {
    const twins = [...TEAM, { agentId: 'x', name: 'LYRA' }];
    expect(mentionedIn('@Lyra and @Lyra Vael', twins)).toEqual(['b']);
  });

  it('shows the whole text, whatever is a mention in it', () => {
    const text = 'So @Søren: ask @Lyra, or @nobody.';
    expect(
      piecesOf(text, TEAM)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text);
    expect(
      piecesOf(text, TEAM)
        .filter(({ kind }) => kind === 'mention')
        .map((piece) => piece.text),
    ).toEqual(['@Søren', '@Lyra']);
  });
});
