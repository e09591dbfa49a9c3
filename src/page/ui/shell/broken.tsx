import type { FallbackProps } from 'react-error-boundary';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import { t } from '../../language/t.ts';
import { isPartMissing } from '../parts/part.tsx';
import './broken.css';

/** Shown in place of a part of the page that failed. Stored data is not affected. */
export function Broken({ error, resetErrorBoundary }: FallbackProps) {
  const detail = errorMessage(error);
  const outdated = isPartMissing(error);
  return (
    <main className="broken stack at-start" role="alert">
      <h1>{outdated ? t`Roost has been updated` : t`This page stumbled`}</h1>
      <p className="ink-2 pretty">
        {outdated
          ? t`This page is from before the update, or the relay could not be reached for a part of it. Reload to go on; nothing is lost.`
          : t`Something in the page itself went wrong. Your team and every word are stored and safe; reload to go on.`}
      </p>
      <div className="broken-ways cluster">
        <button
          type="button"
          className="big-button relative no-frame round-l clip text-5 bold fill fixed"
          onClick={() => location.reload()}
        >{t`Reload`}</button>
        {!outdated && (
          <button type="button" className="ghost" onClick={resetErrorBoundary}>{t`Try without reloading`}</button>
        )}
      </div>
      {!outdated && (
        <details>
          <summary>{t`What went wrong`}</summary>
          <pre className="ink-3 as-written">{detail}</pre>
        </details>
      )}
    </main>
  );
}
