import { lineDiff } from '../../domain/line-diff.ts';
import './excerpt.css';

const MARKS = { same: ' ', gone: '−', new: '+' } as const;

/** What nobody sees, and a mind reads: not what joins letters and pictures. */
const UNSEEN = /(?![\u200c\u200d])\p{Cf}/gu;
const revealed = (text: string) =>
  text.replace(UNSEEN, (char) => `⟨U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`);

/** What a change of a text takes away and brings, by lines. */
export function Diff({ before, after }: { before: string; after: string }) {
  return (
    <pre className="excerpt diff" dir="auto">
      {lineDiff(before, after).map(({ kind, text }, i) => (
        <span key={i} data-kind={kind}>
          {`${MARKS[kind]} ${revealed(text)}\n`}
        </span>
      ))}
    </pre>
  );
}
