import { useInfo, useLive } from '../context.tsx';
import { endText, linkTrouble } from '../text/reasons.ts';
import { clockTime, dayWithin, shortDuration } from '../text/time.ts';
import { useNow } from '../use-now.ts';

/** ms between looks at the session's age. */
const AGE_EVERY = 15_000;

/** Is there a session, since when; and if not, why not, and what to do. */
export function SessionPill() {
  const link = useLive((state) => state.link);
  const startedAt = useLive((state) => (state.live ? (state.session?.startedAt ?? null) : null));
  const lastEnd = useLive((state) => state.lastEnd);
  const model = useLive((state) => (state.live ? state.session?.mind.leadModel : undefined));
  const version = useInfo((state) => state.health?.version);
  const now = useNow(AGE_EVERY);
  const trouble = linkTrouble(link);

  if (startedAt !== null)
    return (
      <p className="pill" title={`Running since ${clockTime(startedAt)}${model ? ` · ${model}` : ''}`}>
        <i className="pill-dot pill-live" aria-hidden="true" />
        <b>Session</b> <span>{shortDuration(now - startedAt)}</span>
      </p>
    );
  if (trouble)
    return (
      <div className="pill pill-trouble" role="status">
        <i className="pill-dot pill-lost" aria-hidden="true" />
        <b>{trouble.title}</b>
        <span className="pill-more">everyone sleeps</span>
      </div>
    );
  if (link.kind === 'connecting')
    return (
      <p className="pill" role="status">
        <i className="pill-dot" aria-hidden="true" />
        <span>Looking for the relay…</span>
      </p>
    );
  return (
    <p className="pill" title={version ? `Relay ${version}` : undefined}>
      <i className="pill-dot pill-asleep" aria-hidden="true" />
      <b>No session</b>
      <span className="pill-more">
        everyone sleeps
        {lastEnd &&
          ` since ${dayWithin(lastEnd.endedAt, now)} ${clockTime(lastEnd.endedAt)}: ${endText(lastEnd.reason)}`}
      </span>
    </p>
  );
}
