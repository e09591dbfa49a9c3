/** A problem that affects everything, with what to do. */
import { WarnIcon } from '../design/icons.tsx';
import type { Trouble } from '../text/reasons.ts';

export function Banner({
  trouble,
  tone,
  act,
}: {
  trouble: Trouble;
  tone: 'danger' | 'warn';
  act?: { label: string; run: () => void };
}) {
  return (
    <div className="banner text-2 line gap-5 ink-2 pad-4-6" data-tone={tone} role="alert">
      <WarnIcon />
      <p className="fill">
        <strong className="warn">{trouble.title}.</strong> {trouble.advice}
      </p>
      {act && (
        <button type="button" className="ghost" onClick={act.run}>
          {act.label}
        </button>
      )}
    </div>
  );
}
