import { useEffect, useRef } from 'react';
import { t } from '../../language/t.ts';
import { useDevices } from '../context.tsx';
import { Progress } from '../design/progress.tsx';

/** What keeps a team from arriving, and what to do about it; null: nothing. */
export const WAITS = {
  live: null,
  off: null,
  connecting: null,
  lost: t`The relay does not answer. Roost tries again.`,
  'locked-out': t`This browser is not signed in. Press Enter in the terminal where Roost runs, and open the link that it prints.`,
} as const;

/** This device has joined a household, and none of its documents are here yet. */
export default function OnItsWay() {
  const status = useDevices((state) => state.status);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  if (status?.kind !== 'shared') return null;
  const { backlog, link } = status;
  return (
    <div className="on-its-way gap-6 stack">
      <h1 ref={head} tabIndex={-1}>{t`Your team is arriving`}</h1>
      <p className="welcome-lead above-5 pretty ink-2">{t`This device has joined. Your team is on its way here.`}</p>
      <Progress label={t`Loading…`} done={backlog?.done ?? 0} of={backlog?.of ?? 0} />
      {WAITS[link] !== null && (
        <p className="welcome-lead above-5 pretty ink-2" role="status">
          {WAITS[link]}
        </p>
      )}
    </div>
  );
}
