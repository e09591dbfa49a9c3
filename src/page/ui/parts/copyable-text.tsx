import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';
import { useRoost } from '../context.tsx';
import { CopyIcon } from '../design/more-icons.tsx';
import './copyable-text.css';

/** Copies a text to the clipboard, with a notice. */
export async function copyText(state: RoostState, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    state.notices.info(t`${what} copied.`);
  } catch (error) {
    // The browser may refuse. The notice advises to select the text by hand.
    state.notices.error(
      t`Copying failed (${error instanceof Error ? error.name : 'no reason given'}). Select the text and copy it.`,
    );
  }
}

/** A long text to copy elsewhere. `what`: as a sentence begins, "The offer". */
export function CopyableText({ text, what }: { text: string; what: string }) {
  const state = useRoost();
  return (
    <div className="copyable-text at-top ground-0 pad-block-4 round-s full flex gap-3 narrow framed">
      {/* Scrollable by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="fill ink scroll as-written break pad-3-0 code-text" tabIndex={0} aria-label={what} translate="no">
        {text}
      </pre>
      <button
        type="button"
        className="icon-button"
        aria-label={t`${t`Copy`}: ${what}`}
        title={t`Copy`}
        onClick={() => void copyText(state, text, what)}
      >
        <CopyIcon />
      </button>
    </div>
  );
}
