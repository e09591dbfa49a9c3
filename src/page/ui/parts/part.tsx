/** A part of the page that may break without taking the rest along. */
import { type ComponentType, lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import { t } from '../../language/t.ts';
import './part.css';

/**
 * A part of the page that is fetched when it is first shown, and left out where it does not come,
 * because the relay is gone.
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

/** Times that a part is drawn anew by itself. */
const AGAIN_MOST = 3;

/**
 * A browser that translates the page, or an extension, puts nodes into elements of its own. What
 * React then looks for in vain is not wrong: drawn anew, the part stands there again.
 */
const isMovedNode = (error: unknown) =>
  error instanceof DOMException && /^(?:NotFound|HierarchyRequest)Error$/.test(error.name);

/**
 * Browsers word it differently: a part of the page could not be fetched, because the relay has a
 * newer page, or is gone.
 */
export const isPartMissing = (error: unknown) =>
  /dynamically imported module|importing a module script|preload/i.test(errorMessage(error));

function BrokenPart({ error, resetErrorBoundary, drawsAgain }: FallbackProps & { drawsAgain: boolean }) {
  const isDrawnAgain = drawsAgain && isMovedNode(error);
  useEffect(() => {
    if (isDrawnAgain) resetErrorBoundary();
  }, [isDrawnAgain, resetErrorBoundary]);
  // Only another page has what is missing.
  if (isPartMissing(error)) throw error;
  if (isDrawnAgain) return null;
  return (
    <p className="broken-part" role="alert">
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
