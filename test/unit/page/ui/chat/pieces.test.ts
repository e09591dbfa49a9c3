import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markdownPieces, parsed, plainPieces } from '../../../../../src/page/ui/chat/parser.ts';

const sentence = 'The second pier stands in the river like a tooth, and nobody remembers the first. ';
const paragraph = sentence.repeat(6).trim();
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_none, i) => `${i}: ${paragraph}`.replace(/^\d+/, (n) => `Paragraph ${n}`)).join(
    '\n\n',
  );
const textsOf = (text: string) => markdownPieces(text).map((piece) => piece.text);

test('a short text is one piece, as it is', () => {
  expect(textsOf('')).toEqual(['']);
  expect(textsOf('**a**\n\n- b')).toEqual(['**a**\n\n- b']);
  expect(plainPieces('a\n\nb')).toEqual(['a\n\nb']);
});

test('splits a long text between paragraphs, and loses nothing', () => {
  const text = paragraphs(40);
  const pieces = textsOf(text);
  expect(pieces.length).toBeGreaterThan(8);
  expect(pieces.join('\n\n')).toBe(text);
  for (const piece of pieces) expect(piece).toMatch(/^Paragraph/);
});

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_none, i) => line(i)).join('\n');
/** A block of each kind, far longer than a piece. */
const BLOCKS = {
  'a table': `| a | b |\n|---|---|\n${lines(300, (i) => `| ${i} | ${sentence.trim()} |`)}`,
  'a table without bars at its sides': `a | b\n--- | ---\n${lines(200, (i) => `${i} | ${sentence.trim()}`)}`,
  'a block of code': `\`\`\`js\n${lines(800, (i) => (i % 9 === 0 ? '' : `let x${i} = ${i};`))}\n\`\`\``,
  'a block of code in tildes': `~~~~\n${lines(300, (i) => (i % 5 === 0 ? '~~~' : `Text ${i}`))}\n~~~~`,
  'a numbered list': lines(80, (i) => `${i + 1}. ${sentence.trim()}`),
  'a list with paragraphs, lists and code in it': lines(
    40,
    (i) => `1. First ${i}\n\n   ${sentence.trim()}\n   - sub\n\n   \`\`\`\n   code\n\n   code\n   \`\`\`\n`,
  ),
  'a quotation': lines(80, (i) => (i % 7 === 0 ? '>' : `> ${sentence.trim()}`)),
  'a paragraph with marks around all of it': `**${sentence.repeat(100).trim()}**`,
  'what folds': `<details>\n<summary>More</summary>\n\n${paragraphs(20)}\n\n</details>`,
  'a comment': `<!--\n${paragraphs(10)}\n-->`,
};

test.each(Object.entries(BLOCKS))('%s is one piece, whatever its length', (_what, block) => {
  const pieces = textsOf(`${paragraphs(4)}\n\n${block}\n\nAfter.`);
  expect(pieces.filter((piece) => piece.includes(block.trim()))).toHaveLength(1);
  const types = parsed(block).blocks.filter(({ level }) => level === 0);
  expect(types.filter(({ nesting }) => nesting >= 0)).toHaveLength(1);
});

test('a list beyond all measure goes on in the next piece, with its numbers', () => {
  const list = lines(1_500, (i) => `1. ${sentence.trim()} ${i}`);
  const pieces = markdownPieces(`Before.\n\n${list}`);
  expect(pieces.length).toBeGreaterThan(2);
  let next = 1;
  for (const { text, start } of pieces) {
    const items = text.split('\n').filter((line) => line.startsWith('1. '));
    expect(start ?? 1).toBe(next);
    next += items.length;
  }
  expect(next).toBe(1_501);
});

test('a link that is defined far away still leads there', () => {
  const pieces = markdownPieces(`See [the map][m].\n\n${paragraphs(20)}\n\n[m]: https://example.org/map`);
  expect(pieces[0]?.around.references['M']?.href).toBe('https://example.org/map');
  expect(pieces[1]?.around.key).toBe('');
});

test('footnotes are numbered through a whole message, as they are used, and stand at its end', () => {
  const pieces = markdownPieces(
    `First[^b] and \`[^c]\`.\n\n${paragraphs(9)}\n\nThen[^a], [^b] again.\n\n[^a]: Of the second\n    and on\n[^b]: Of the *first*\n[^c]: Unused\n\nThe end.`,
  );
  expect(pieces[0]?.around.notes).toEqual(['b', 'a', 'c']);
  expect(pieces.at(-1)).toMatchObject({
    notes: true,
    text: '1. Of the *first*\n2. Of the second\n    and on\n3. Unused',
  });
  expect(
    pieces
      .slice(0, -1)
      .flatMap(({ text, around }) => parsed(text, around).blocks)
      .map(({ content }) => content),
  ).toContain('The end.');
});

const odd = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '\n',
          '\n\n',
          '```\n',
          '~~~\n',
          '- x\n',
          '1. x\n',
          '    y\n',
          '  z\n',
          '> z\n',
          ' ',
          '😀',
          '# h\n',
          '---\n',
          '===\n',
          '| a | b |\n',
          '|---|---|\n',
        ],
        ...[
          '<details>\n',
          '</details>\n',
          '<div>\n',
          '<!--',
          '-->',
          '$$\n',
          '[a]: b\n',
          '[^1]: n\n',
          '[a] [^1]\n',
          '**',
          sentence,
          'x'.repeat(500),
          '😀'.repeat(300),
          `${sentence.repeat(20)}\n\n`,
        ],
      ),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

test('pieces read together as the whole does, whatever the text', () => {
  const shape = (text: string, around = markdownPieces(text)[0]?.around) =>
    parsed(text, around)
      .blocks.filter(({ type }) => type !== 'reference_definition')
      .map(({ type, content }) => (content.trim() === '' ? type : content.trimEnd()));
  fc.assert(
    fc.property(odd, (all) => {
      // Beyond that, a paragraph is parted too.
      fc.pre(all.length < 8_000);
      const { around } = markdownPieces(all).at(-1) ?? {};
      const pieces = markdownPieces(all).filter(({ notes }) => !notes);
      expect(pieces.flatMap(({ text }) => shape(text, around))).toEqual(shape(all, around));
    }),
    { numRuns: 300 },
  );
});

test('splits no character, and loses nothing', () => {
  fc.assert(
    fc.property(odd, (all) => {
      for (const piece of [...textsOf(all), ...plainPieces(all)]) expect(() => encodeURIComponent(piece)).not.toThrow();
      const letters = (words: string) => words.replace(/\s/g, '');
      expect(
        letters(
          markdownPieces(all)
            .filter(({ notes }) => !notes)
            .map(({ text }) => text)
            .join(''),
        ),
      ).toBe(letters(all));
      expect(letters(plainPieces(all).join(''))).toBe(letters(all));
    }),
  );
  const giant = 'x'.repeat(200_000);
  expect(textsOf(giant).join('')).toBe(giant);
  for (const piece of textsOf('😀'.repeat(100_000))) expect(() => encodeURIComponent(piece)).not.toThrow();
});

test('keeps earlier pieces while words are added', () => {
  const all = `${paragraphs(6)}\n\n- one\n- two\n\n\`\`\`js\n${'let a = 1;\n'.repeat(900)}\`\`\`\n\n${paragraphs(6)}\n\n1. a\n\n2. b\n\n**Bold** ${sentence.repeat(80)}\n\nEnd.`;
  let before = markdownPieces('');
  for (let length = 0; length <= all.length; length += 37) {
    const now = markdownPieces(all.slice(0, length));
    for (const [i, piece] of before.slice(0, -1).entries()) expect(now[i]).toBe(piece);
    before = now;
  }
  before = markdownPieces(all);
  // Others come between, so that it is parted from its beginning.
  for (let i = 0; i < 9; i++) markdownPieces(`other ${i}`);
  expect(textsOf(all)).toEqual(before.map(({ text }) => text));
});
