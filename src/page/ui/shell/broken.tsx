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
      <h1>{outdated ? t`Roost has been updated` : t`Something went wrong`}</h1>
      <p className="ink-2 pretty">
        {outdated ? t`Reload the page. Nothing is lost.` : t`Reload the page. Nothing is lost.`}
      </p>
      <div className="broken-ways cluster">
        <button
          type="button"
          className="big-button relative no-frame round-l clip text-5 bold fill fixed"
          onClick={() => location.reload()}
        >{t`Reload`}</button>
        {!outdated && <button type="button" className="ghost" onClick={resetErrorBoundary}>{t`Try again`}</button>}
      </div>
      {!outdated && (
        <details>
          <summary>{t`Details`}</summary>
          <pre className="ink-3 as-written">{detail}</pre>
        </details>
      )}
    </main>
  );
}
