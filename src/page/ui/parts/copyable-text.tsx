import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { copyText } from './copy.ts';
import { CopyIcon } from './icons.tsx';
import './copyable-text.css';

/** A long text to copy elsewhere. `what`: as a sentence begins, "The offer". */
export function CopyableText({ text, what }: { text: string; what: string }) {
  const state = useRoost();
  return (
    <div className="copyable-text">
      {/* Scrollable by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={what} translate="no">
        {text}
      </pre>
      <button
        type="button"
        className="icon-button"
        aria-label={t`Copy: ${what}`}
        title={t`Copy`}
        onClick={() => void copyText(state, text, what)}
      >
        <CopyIcon />
      </button>
    </div>
  );
}
