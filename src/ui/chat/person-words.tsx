import { WithChips } from './mentioned.tsx';
import type { Part } from './parts.ts';

/** A row's share of what a person wrote, exactly as it was written. */
export function PersonWords({ parts }: { parts: readonly Part[] }) {
  return parts.map((part, i) =>
    part.kind === 'text' && part.text !== '' ? (
      <p key={i} className="plain" dir="auto">
        <WithChips text={part.text} />
      </p>
    ) : null,
  );
}
