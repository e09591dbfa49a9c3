/**
 * A block of code, highlighted once the colours are there, with a copy button. Highlighting never
 * changes its size.
 */
import { lazy, memo, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../language/t.ts';
import { GrowingText } from '../design/growing-text.tsx';
import { CheckIcon, CopyIcon } from '../design/more-icons.tsx';
import { CAN_TELL_NEAR, useRoom } from '../design/near.ts';
import { takeFocus } from '../design/dialog.tsx';
import type { Coloured } from './colours.ts';
import type { DrawingBlockProps } from './drawing-block.tsx';

// Requests highlighting from the worker. It starts with the first block of code, and answers in
// order.

type Lines = readonly (readonly Coloured[])[];

/**
 * ms without an answer, after which the worker is terminated. Pending blocks stay plain, and the
 * next block starts a new worker.
 */
const PATIENCE = 5_000;

let worker: Worker | null = null;
const waiting: ((lines: Lines | null) => void)[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

function giveUp(): void {
  worker?.terminate();
  worker = null;
  clearTimeout(timer);
  for (const answer of waiting.splice(0)) answer(null);
}

function watch(): void {
  clearTimeout(timer);
  if (waiting.length > 0) timer = setTimeout(giveUp, PATIENCE);
}

function begin(): Worker {
  const begun = new Worker(new URL('./colours-worker.ts', import.meta.url), { type: 'module', name: 'roost-colours' });
  begun.addEventListener('message', ({ data }: MessageEvent<Lines | null>) => {
    waiting.shift()?.(data);
    watch();
  });
  // The script may be unavailable without the relay. Code then stays plain.
  begun.addEventListener('error', giveUp);
  return begun;
}

/**
 * `code` by lines, as pieces that concatenate to `code`; null: the language is unknown, or it took
 * too long.
 */
function askForColours(code: string, language: string): Promise<Lines | null> {
  worker ??= begin();
  worker.postMessage({ code, language });
  return new Promise((resolve) => {
    waiting.push(resolve);
    watch();
  });
}

/** ms without new text, after which streaming code is highlighted up to its current end. */
const SETTLED = 150;
/** ms for which the button reports its result. */
const SAYS_SO = 2_000;

/** The language of diagrams. Its renderer is loaded with the first one that is requested. */
const MERMAID = 'mermaid';
const DrawingBlock = lazy(() => import('./drawing-block.tsx').catch(() => ({ default: NotFetched })));

function NotFetched({ onClose }: DrawingBlockProps) {
  return (
    <p className="md-drawing-foot flex wrap ink-2 above-3">
      <span role="status">{t`Could not load a part of the page. Check the connection to the relay.`}</span>
      <button type="button" className="link-button" onClick={onClose}>{t`Close`}</button>
    </p>
  );
}

interface Colouring {
  readonly code: string;
  readonly lines: readonly (readonly Coloured[])[];
}

/** Highlighting of `code`, or of its beginning while it grows; null: none yet, or not available. */
export function useColours(code: string, language: string): Colouring | null {
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

const OUTCOMES = { copied: t`Copied`, refused: t`Copying failed` } as const;

function Copy({ code }: { code: string }) {
  const [outcome, setOutcome] = useState<keyof typeof OUTCOMES | null>(null);
  useEffect(() => {
    if (outcome === null) return undefined;
    const timer = setTimeout(() => setOutcome(null), SAYS_SO);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () =>
    navigator.clipboard.writeText(code).then(
      () => setOutcome('copied'),
      () => setOutcome('refused'),
    );
  return (
    <>
      <button
        type="button"
        className="icon-button md-copy ground-1 absolute"
        aria-label={t`Copy code`}
        title={outcome === null ? t`Copy code` : OUTCOMES[outcome]}
        onClick={() => void copy()}
      >
        {outcome === 'copied' ? <CheckIcon /> : <CopyIcon />}
      </button>
      <span className="visually-hidden" role="status">
        {outcome !== null && OUTCOMES[outcome]}
      </span>
    </>
  );
}

/** Blocks with at least this many lines are rendered in parts. */
const LONG_LINES = 200;
/** Lines per part. */
const PART_LINES = 100;
/** Overscan in px: parts this far outside the view are highlighted. */
const COLOURED_AROUND = 600;

interface PartProps {
  /** Includes its final line break, except at the end of the code. */
  readonly text: string;
  readonly firstLine: number;
  readonly lines: number;
  readonly colouring: Colouring | null;
  /** Its lines are laid out and highlighted only near the view. */
  readonly isWindowed: boolean;
}

/** Some lines of code, highlighted as far as possible. Every text has an element of its own. */
const Part = memo(function Part({ text, firstLine, lines, colouring, isWindowed }: PartProps) {
  const ref = useRef<HTMLSpanElement>(null);
  const room = useRoom(ref, {
    around: COLOURED_AROUND,
    wherein: '.log',
    isWatched: isWindowed && colouring !== null,
    atFirst: 0,
  });
  const coloured = room === null ? (colouring?.lines.slice(firstLine, firstLine + lines) ?? []) : [];
  const length = coloured.flat().reduce((sum, piece) => sum + piece.text.length, Math.max(0, coloured.length - 1));
  return (
    <span ref={ref} {...(isWindowed ? { className: 'md-code-part', style: { '--lines': lines } } : {})}>
      {coloured.map((line, i) => (
        <span key={i}>
          {line.map(({ text: piece, color }, at) => (
            <span key={at} style={{ color }}>
              {piece}
            </span>
          ))}
          {i < coloured.length - 1 && <span>{'\n'}</span>}
        </span>
      ))}
      <GrowingText text={text.slice(length)} />
    </span>
  );
});

function Code({ code, language }: { code: string; language: string }) {
  const colouring = useColours(code, language);
  const lines = useMemo(() => code.split('\n'), [code]);
  const isWindowed = lines.length > LONG_LINES && CAN_TELL_NEAR;
  const size = isWindowed ? PART_LINES : lines.length;
  return (
    <>
      {/* Scrollable where it is too wide, by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="framed ground-1 round-s scroll code-text" tabIndex={0} dir="ltr" translate="no">
        <code className="round-xs ground-3">
          {Array.from({ length: Math.ceil(lines.length / size) }, (_none, i) => {
            const some = lines.slice(i * size, (i + 1) * size);
            const isLast = (i + 1) * size >= lines.length;
            return (
              <Part
                key={i}
                text={some.join('\n') + (isLast ? '' : '\n')}
                firstLine={i * size}
                lines={some.length}
                colouring={colouring}
                isWindowed={isWindowed}
              />
            );
          })}
        </code>
      </pre>
      {code !== '' && <Copy code={code} />}
    </>
  );
}

/** Shows the code until a press renders it as a diagram. An error is shown below the code. */
function Mermaid({ code, children }: { code: string; children: ReactNode }) {
  // Code that has grown since is rendered anew. null: closed, and its button is gone.
  const [drawnCode, setDrawnCode] = useState<string | null>();
  const shown = drawnCode === code;
  return (
    <div className="md-mermaid">
      <div className="md-code relative">{children}</div>
      {shown ? (
        <Suspense fallback={<p className="md-drawing-foot flex wrap ink-2 above-3">{t`Loading…`}</p>}>
          <DrawingBlock code={code} onClose={() => setDrawnCode(null)} />
        </Suspense>
      ) : (
        <p className="md-drawing-foot flex wrap ink-2 above-3">
          <button
            type="button"
            className="link-button"
            ref={drawnCode === null ? takeFocus : undefined}
            onClick={() => setDrawnCode(code)}
          >{t`Show as a diagram`}</button>
        </p>
      )}
    </div>
  );
}

/** @param info The info string of the fence: the language first. */
export function CodeBlock({ code, info }: { code: string; info: string }) {
  const language = /^\S*/.exec(info.trim())?.[0].toLowerCase() ?? '';
  const block = <Code code={code} language={language} />;
  return language === MERMAID ? (
    <Mermaid code={code}>{block}</Mermaid>
  ) : (
    <div className="md-code relative">{block}</div>
  );
}
