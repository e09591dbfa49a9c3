import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedLines } from '../../../../src/shared/domain/memory-changes.ts';
import { linesOf, storeLines, textOfLines, writesOf } from '../../../../src/shared/domain/memory-lines.ts';

type Source = { readonly by: 'agent' | 'human'; readonly session: string };
interface File {
  readonly text: string;
  readonly source: Source;
  readonly changedAt: number;
  readonly lines: ReturnType<typeof storeLines<Source>>;
}
const from = (session: string): Source => ({ by: 'agent', session });

/** The file after a write, as its record has it. */
function write(before: File | null, text: string, session: string, changedAt: number): File {
  const source = from(session);
  const lines = changedLines(before ? linesOf(before) : [], text, { source, time: changedAt });
  return { text, source, changedAt, lines: storeLines(lines, JSON.stringify) };
}
const sessionsOf = (file: File) =>
  linesOf(file).map((line) => [line.text, writesOf(line).map(({ source }) => source.session)]);

describe('the lines of a memory file', () => {
  it('keep the write that added them when later writes add others', () => {
    const first = write(null, 'one\ntwo\n', 's1', 1);
    const second = write(first, 'one\ntwo\nthree\n', 's2', 2);
    expect(sessionsOf(second)).toEqual([
      ['one', ['s1']],
      ['two', ['s1']],
      ['three', ['s2']],
    ]);
  });

  it('go back to the lines that they replaced', () => {
    const first = write(null, 'The code is 17.\nMaya\n', 's1', 1);
    const second = write(first, 'The code of the door is 17.\nMaya\n', 's2', 2);
    expect(sessionsOf(second)).toEqual([
      ['The code of the door is 17.', ['s2', 's1']],
      ['Maya', ['s1']],
    ]);
  });

  it('keep the source of a file that was emptied, since its name came from there', () => {
    const emptied = write(write(null, 'one\n', 's1', 1), '', 's2', 2);
    expect(sessionsOf(emptied)).toEqual([['', ['s2', 's1']]]);
  });

  it('go back to a line with the same text in another file', () => {
    const other = write(null, 'one\n', 's1', 1);
    const lines = changedLines([], 'one\nnew\n', { source: from('s2'), time: 2 }, linesOf(other));
    expect(lines.map((line) => writesOf(line).map(({ source }) => source.session))).toEqual([['s2', 's1'], ['s2']]);
  });

  it('read as the last write where a record names none', () => {
    expect(linesOf({ text: 'one\n', source: from('s1'), changedAt: 1 })).toMatchObject([
      { text: 'one', origin: { time: 1, after: [] }, number: 0 },
    ]);
  });

  it('tells lines apart by write and number, and yields the text of the file after any writes', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 8 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (texts) => {
        let file: File | null = null;
        for (const [i, each] of texts.entries()) {
          file = write(file, each, `s${i}`, i + 1);
          const lines = linesOf(file);
          if (each !== '') expect(textOfLines(lines)).toBe(each);
          const names = lines.map(({ origin, number }) => `${origin.time} ${number}`);
          expect(new Set(names).size).toBe(names.length);
        }
      }),
    );
  });
});
