import { lineDiff } from '../../domain/line-diff.ts';
import { revealed } from '../text/unseen.ts';
import './excerpt.css';

const MARKS = { same: ' ', gone: '−', new: '+' } as const;

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
