import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markdownPieces, plainPieces } from '../../../src/ui/chat/pieces.ts';

const sentence = 'The second pier stands in the river like a tooth, and nobody remembers the first. ';
const paragraph = sentence.repeat(6).trim();
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_none, i) => `${i}: ${paragraph}`.replace(/^\d+/, (n) => `Paragraph ${n}`)).join(
    '\n\n',
  );

test('a short text is one piece, as it is', () => {
  expect(markdownPieces('')).toEqual(['']);
  expect(markdownPieces('**a**\n\n- b')).toEqual(['**a**\n\n- b']);
  expect(plainPieces('a\n\nb')).toEqual(['a\n\nb']);
});

test('a long one is parted between paragraphs, and nothing is lost', () => {
  const text = paragraphs(40);
  const pieces = markdownPieces(text);
  expect(pieces.length).toBeGreaterThan(8);
  expect(pieces.join('\n')).toBe(text);
  for (const piece of pieces) expect(piece).toMatch(/^Paragraph/);
});

test('a list, a quotation and what is indented are not parted while they fit', () => {
  const list = Array.from({ length: 30 }, (_none, i) => `${i + 1}. ${sentence}`).join('\n\n');
  const pieces = markdownPieces(`${paragraphs(4)}\n\n${list.slice(0, 2400)}\n\nAfter.`);
  expect(pieces.filter((piece) => /^\d+\. /m.test(piece))).toHaveLength(1);
});

test('a code block that is too long becomes one block after another', () => {
  const code = Array.from({ length: 600 }, (_none, i) => `let x${i} = ${i};`).join('\n');
  const pieces = markdownPieces(`Before.\n\n\`\`\`js\n${code}\n\`\`\`\n\nAfter.`);
  expect(pieces.length).toBeGreaterThan(2);
  const inside = pieces.slice(1, -1);
  for (const piece of inside) expect(piece.startsWith('```js\n') && piece.endsWith('\n```')).toBe(true);
  const kept = pieces
    .join('\n')
    .split('\n')
    .filter((line) => line.startsWith('let'));
  expect(kept.join('\n')).toBe(code);
  expect(pieces.at(-1)).toContain('After.');
});

test('a link that is defined far away still leads there', () => {
  const pieces = markdownPieces(`See [the map][m].\n\n${paragraphs(20)}\n\n[m]: https://example.org/map`);
  expect(pieces[0]).toContain('[m]: https://example.org/map');
  expect(pieces[1]).not.toContain('example.org');
});

test('no piece is too long to be set at once, whatever the text, and no character is parted', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '\n',
          '\n\n',
          '```\n',
          '- x\n',
          '    y\n',
          '> z\n',
          ' ',
          '😀',
          sentence,
          'x'.repeat(5000),
          '😀'.repeat(3000),
        ),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (all) => {
      for (const piece of [...markdownPieces(all), ...plainPieces(all)]) {
        expect(piece.length).toBeLessThan(4_200);
        expect(() => encodeURIComponent(piece)).not.toThrow();
      }
      const letters = (words: string) => words.replace(/[\s`]/g, '');
      expect(letters(markdownPieces(all).join(''))).toBe(letters(all));
      expect(letters(plainPieces(all).join(''))).toBe(letters(all));
    }),
  );
});

test('what was set before stays as it is while words are added', () => {
  const all = `${paragraphs(6)}\n\n- one\n- two\n\n\`\`\`js\n${'let a = 1;\n'.repeat(900)}\`\`\`\n\n${paragraphs(6)}\n\n1. a\n\n2. b\n\n**Bold** ${sentence.repeat(80)}\n\nEnd.`;
  let before = markdownPieces('');
  for (let length = 0; length <= all.length; length += 37) {
    const now = markdownPieces(all.slice(0, length));
    expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    before = now;
  }
});
