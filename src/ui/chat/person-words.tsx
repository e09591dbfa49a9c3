import { useState } from 'react';
import { bytesOf } from '../../state/wake-material.ts';
import { bytes } from '../text/sizes.ts';

/** Characters of a person's own message that are shown at first. */
const SHOWN_AT_FIRST = 4_000;

/** What a person wrote, exactly as it was written; a very long one opens on demand. */
export function PersonWords({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const long = text.length > SHOWN_AT_FIRST * 1.25;
  return (
    <>
      <p className="plain" dir="auto">
        {long && !all ? `${text.slice(0, SHOWN_AT_FIRST)}…` : text}
      </p>
      {long && (
        <button type="button" className="link-button" onClick={() => setAll(!all)}>
          {all ? 'Show less' : `Show all of it (${bytes(bytesOf(text))})`}
        </button>
      )}
    </>
  );
}
