/** Error boundaries: a part of the page can fail without the rest. */
import { type ComponentType, lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import { t } from '../../language/t.ts';
import { useNow } from '../hooks.ts';
import './part.css';

// Shows how long something has lasted.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** ms: shorter durations are not shown. */
export const WORTH_SAYING = 2 * SECOND;

/** `12 s`, `3 min`, `2 h` */
export function spanText(ms: number): string {
  if (ms < MINUTE) return t`${Math.floor(ms / SECOND)} s`;
  return ms < HOUR ? t`${Math.floor(ms / MINUTE)} min` : t`${Math.floor(ms / HOUR)} h`;
}

/** The duration of an activity. It subscribes to the clock by itself. */
export function Lasts({ from }: { from: number }) {
  const lasted = useNow(SECOND) - from;
  return lasted < WORTH_SAYING ? null : (
    <span className="activity-span fixed figures ink-3"> · {spanText(lasted)}</span>
  );
}

/**
 * A component that is loaded when first shown, and left out if it cannot be loaded because the
 * relay is gone.
 */
export function optional<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  const Part = lazy<ComponentType<Props>>(() => load().catch(() => ({ default: () => null })));
  return function Optional(props) {
    return (
      <Suspense fallback={null}>
        <Part {...props} />
      </Suspense>
    );
  };
}

/** Automatic retries of a failed part. */
const AGAIN_MOST = 3;

/**
 * A browser that translates the page, or an extension, moves nodes into elements of its own, and
 * React then fails to find them. Rendering the part anew repairs that.
 */
const isMovedNode = (error: unknown) =>
  error instanceof DOMException && /^(?:NotFound|HierarchyRequest)Error$/.test(error.name);

/**
 * True if a module could not be loaded, because the relay has a newer page or is gone. Browsers
 * word this error differently.
 */
export const isPartMissing = (error: unknown) =>
  /dynamically imported module|importing a module script|preload/i.test(errorMessage(error));

function BrokenPart({ error, resetErrorBoundary, drawsAgain }: FallbackProps & { drawsAgain: boolean }) {
  const isDrawnAgain = drawsAgain && isMovedNode(error);
  useEffect(() => {
    if (isDrawnAgain) resetErrorBoundary();
  }, [isDrawnAgain, resetErrorBoundary]);
  // Trying again cannot load a missing module: the page has to be loaded anew.
  if (isPartMissing(error)) throw error;
  if (isDrawnAgain) return null;
  return (
    <p className="broken-part gap-4 pad flex wrap warn text-2" role="alert">
      <span>{t`This part of the page stumbled. Everything that was said is stored.`}</span>
      <button type="button" className="link-button" onClick={resetErrorBoundary}>{t`Try again`}</button>
    </p>
  );
}

export function Part({ children }: { children: ReactNode }) {
  const [times, setTimes] = useState(0);
  return (
    <ErrorBoundary
      onError={() => setTimes((before) => before + 1)}
      fallbackRender={(fallback) => <BrokenPart {...fallback} drawsAgain={times < AGAIN_MOST} />}
    >
      {children}
    </ErrorBoundary>
  );
}
