/** A block of code: in colours as soon as they are there, and copied by one press. Its room never changes by that. */
import { Fragment, isValidElement, lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { CheckIcon, CopyIcon } from '../parts/icons.tsx';
import { takeFocus } from '../parts/take-focus.ts';
import { askForColours } from './ask.ts';
import type { Coloured } from './colours.ts';
import type { DrawingBlockProps } from './drawing-block.tsx';

/** ms without a new word, after which code that is still being written is coloured as far as it goes. */
const SETTLED = 150;
/** ms for which the button says what it did. */
const SAYS_SO = 2_000;

/** The language of drawings; what draws is fetched when the first one is asked for. */
const MERMAID = 'mermaid';
const DrawingBlock = lazy(() => import('./drawing-block.tsx').catch(() => ({ default: NotFetched })));

function NotFetched({ onClose }: DrawingBlockProps) {
  return (
    <p className="md-drawing-foot">
      <span role="status">{t`The part of the page that draws could not be fetched. Is the relay there?`}</span>
      <button type="button" className="link-button" onClick={onClose}>{t`Close`}</button>
    </p>
  );
}

interface Colouring {
  readonly code: string;
  readonly lines: readonly (readonly Coloured[])[];
}

/** The colours of `code`, or of its beginning while it grows; null: none yet, or none at all. */
function useColours(code: string, language: string): Colouring | null {
  const [colouring, setColouring] = useState<Colouring | null>(null);
  useEffect(() => {
    if (language === '') return undefined;
    let wanted = true;
    const timer = setTimeout(() => {
      void askForColours(code, language).then((lines) => {
        if (wanted && lines) setColouring({ code, lines });
      });
    }, SETTLED);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [code, language]);
  return colouring && code.startsWith(colouring.code) ? colouring : null;
}

function Copy({ code }: { code: string }) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => setSaid(null), SAYS_SO);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(code).then(
      () => setSaid(t`Copied`),
      () => setSaid(t`The browser did not allow copying`),
    );
  return (
    <>
      <button
        type="button"
        className="icon-button md-copy"
        aria-label={t`Copy code`}
        title={said ?? t`Copy`}
        onClick={() => void copy()}
      >
        {said === 'Copied' ? <CheckIcon /> : <CopyIcon />}
      </button>
      <span className="visually-hidden" role="status">
        {said}
      </span>
    </>
  );
}

function Code({ code, language, className }: { code: string; language: string; className: string | undefined }) {
  const colouring = useColours(code, language);
  return (
    <>
      {/* Scrolls by itself where it is too wide, by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0}>
        <code className={className}>
          {colouring?.lines.map((line, i) => (
            <Fragment key={i}>
              {i > 0 && '\n'}
              {line.map(({ text: piece, color }, at) => (
                <span key={at} style={{ color }}>
                  {piece}
                </span>
              ))}
            </Fragment>
          ))}
          {code.slice(colouring?.code.length ?? 0)}
        </code>
      </pre>
      {code !== '' && <Copy code={code} />}
    </>
  );
}

/** Its code, until a press shows it as a drawing; one that cannot be drawn says why, below its code. */
function Mermaid({ code, children }: { code: string; children: ReactNode }) {
  // A code that has grown since is asked for anew. Null: it was closed, by a button that is gone with it.
  const [asked, setAsked] = useState<string | null>();
  const shown = asked === code;
  return (
    <div className="md-mermaid">
      <div className="md-code">{children}</div>
      {shown ? (
        <Suspense fallback={<p className="md-drawing-foot">{t`Drawing…`}</p>}>
          <DrawingBlock code={code} onClose={() => setAsked(null)} />
        </Suspense>
      ) : (
        <p className="md-drawing-foot">
          <button
            type="button"
            className="link-button"
            ref={asked === null ? takeFocus : undefined}
            onClick={() => setAsked(code)}
          >{t`Show as a drawing`}</button>
        </p>
      )}
    </div>
  );
}

/** @param children of a `pre` as Markdown sets it: one `code` with its text and, in its class, its language. */
export function CodeBlock({ children }: { children?: ReactNode }) {
  const props = isValidElement<{ className?: string; children?: ReactNode }>(children) ? children.props : {};
  const text = typeof props.children === 'string' ? props.children : '';
  const code = text.endsWith('\n') ? text.slice(0, -1) : text;
  const language = /(?:^|\s)language-(\S+)/.exec(props.className ?? '')?.[1]?.toLowerCase() ?? '';
  const block = <Code code={code} language={language} className={props.className} />;
  return language === MERMAID ? <Mermaid code={code}>{block}</Mermaid> : <div className="md-code">{block}</div>;
}
