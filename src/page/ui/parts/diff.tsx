import { lineDiff } from '../../../shared/domain/line-diff.ts';
import { revealed, revealedCode } from '../text/unseen.ts';
import '../design/excerpt.css';

const MARKS = { same: ' ', gone: '−', new: '+' } as const;

/** A line diff of two texts. `isCode`: a machine interprets the text literally. */
export function Diff({ before, after, isCode = false }: { before: string; after: string; isCode?: boolean }) {
  const shown = isCode ? revealedCode : revealed;
  return (
    <pre className="excerpt diff" dir={isCode ? 'ltr' : 'auto'}>
      {lineDiff(before, after).map(({ kind, text }, i) => (
        <span key={i} data-kind={kind}>
          {`${MARKS[kind]} ${shown(text)}\n`}
        </span>
      ))}
    </pre>
  );
}

function kindOfLine(line: string): 'head' | keyof typeof MARKS {
  if (/^(?:\+\+\+|---|@@|diff |index )/.test(line)) return 'head';
  return line.startsWith('+') ? 'new' : line.startsWith('-') ? 'gone' : 'same';
}

/** A diff in the format of `diff` and `git`. */
export function Patch({ text, label }: { text: string; label: string }) {
  return (
    // Scrollable where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="excerpt diff" dir="auto" tabIndex={0} role="region" aria-label={label}>
      {text.split('\n').map((line, i) => (
        <span key={i} data-kind={kindOfLine(line)}>
          {`${revealed(line)}\n`}
        </span>
      ))}
    </pre>
  );
}
