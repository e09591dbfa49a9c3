/** A Mermaid text as a diagram: an image in which nothing can run or be fetched. */
import { useEffect, useRef, useState } from 'react';
import { t } from '../../language/t.ts';
import { download } from '../exports/sink.ts';
import { takeFocus } from '../design/dialog.tsx';
import type { DrawingColours, Drawn } from './drawing.ts';

/** ms after which rendering is aborted. A hostile text may take any time. */
const PATIENCE = 10_000;
/** Smallest scale of the diagram. If there is less room, it scrolls. */
const SMALLEST = 0.6;

/** Returns a function that aborts it. `then` is called once, unless it was aborted. */
function draw(mermaid: string, colours: DrawingColours, then: (drawn: Drawn) => void): () => void {
  const worker = new Worker(new URL('./drawing-worker.ts', import.meta.url), { type: 'module', name: 'roost-drawing' });
  const end = () => {
    clearTimeout(timer);
    worker.terminate();
  };
  const finish = (drawn: Drawn) => {
    end();
    then(drawn);
  };
  const timer = setTimeout(() => finish({ problem: t`Drawing took too long.` }), PATIENCE);
  worker.addEventListener('message', ({ data }: MessageEvent<Drawn>) => finish(data));
  // The renderer is loaded from the relay on first use.
  worker.addEventListener('error', () =>
    finish({ problem: t`Could not load a part of the page. Check the connection to the relay.` }),
  );
  worker.postMessage({ mermaid, colours });
  return end;
}

export interface DrawingBlockProps {
  readonly code: string;
  /** Shows the code again. */
  readonly onClose: () => void;
}

export default function DrawingBlock({ code, onClose }: DrawingBlockProps) {
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const style = getComputedStyle(box.current ?? document.documentElement);
    const colour = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
    return draw(code, { paper: colour('--ground-1', '#fff'), ink: colour('--ink', '#222') }, setDrawn);
  }, [code]);
  const isDrawn = drawn !== null && 'svg' in drawn;
  return (
    <div className="md-drawing" ref={box}>
      {isDrawn && (
        // Scrollable where it is too large, by keyboard too.
        <div
          className="md-drawing-paper framed ground-1 round-s scroll"
          role="region"
          aria-label={t`Drawing`}
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
        >
          <img
            src={`data:image/svg+xml,${encodeURIComponent(drawn.svg)}`}
            alt={t`Diagram of the code`}
            width={Math.round(drawn.width)}
            height={Math.round(drawn.height)}
            style={{ minWidth: Math.round(drawn.width * SMALLEST) }}
          />
        </div>
      )}
      <p className="md-drawing-foot flex wrap ink-2 above-3">
        <span role="status" className={isDrawn ? 'visually-hidden' : undefined}>
          {drawn === null ? t`Loading…` : isDrawn ? t`Drawn` : drawn.problem}
        </span>
        <button type="button" className="link-button" ref={takeFocus} onClick={onClose}>
          {isDrawn ? t`Show the code` : drawn === null ? t`Cancel` : t`Close`}
        </button>
        {isDrawn && (
          <button
            type="button"
            className="link-button"
            onClick={() => download('drawing.svg', new Blob([drawn.svg], { type: 'image/svg+xml' }))}
          >{t`Download`}</button>
        )}
      </p>
    </div>
  );
}
