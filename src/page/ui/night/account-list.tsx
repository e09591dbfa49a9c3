import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentId, RunId, ScheduleId } from '../../../shared/domain/ids.ts';
import type { Occurrence } from '../../../shared/protocol/schedules.ts';
import { canGoOn } from '../../../shared/domain/schedule/timing.ts';
import { retold, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useTeammates } from '../use-somebody.ts';
import { Words } from '../chat/markdown.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../routes.ts';
import { costText } from '../text/money.ts';
import { useNow } from '../hooks.ts';
import { momentText, outcomeText, toneOf, whatText } from './words.ts';

// What happened since the person was last here, for one card. Pure.

/** What became of one routine: its newest words, and how often it did what. */
interface AccountLine {
  readonly key: string;
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly name: string;
  readonly kind: Occurrence['kind'];
  /** Runs that came to a good end. */
  readonly done: number;
  /** The last of them; null: none. */
  readonly lastDone: Occurrence | null;
  /**
   * What failed, and what was skipped though something was to be done: the newest of each sort, and
   * how many.
   */
  readonly troubles: readonly { readonly newest: Occurrence; readonly count: number }[];
  /** Something of it began. */
  readonly ran: boolean;
  readonly costMicroUsd: number;
  /** Some of that is at the most. */
  readonly estimated: boolean;
}

/**
 * Moments that ended in (`since`, `upTo`] because nothing waited: no model was asked, and they are
 * one figure together.
 */
export const idleIn = (occurrences: readonly Occurrence[], since: number, upTo: number): number =>
  occurrences.filter(
    ({ reason, endedAt }) => reason === 'nothing-waits' && endedAt !== null && endedAt > since && endedAt <= upTo,
  ).length;

/**
 * A reminder that came, or a script that told its agent, and what the agent did then: the one
 * moment stands in the account twice.
 */
const isWhatFollowed = ({ kind, runId }: Occurrence) => (kind === 'reminder' || kind === 'script') && runId !== null;

/**
 * Of the moments that ended in (`since`, `upTo`], newest first. What idled is no news, and neither
 * is what was called off.
 */
export function accountOf(newestFirst: readonly Occurrence[], since: number, upTo: number): readonly AccountLine[] {
  const lines = new Map<string, AccountLine>();
  for (const one of newestFirst) {
    const tone = toneOf(one);
    if (one.endedAt === null || one.endedAt <= since || one.endedAt > upTo) continue;
    if (tone === 'quiet' || tone === 'open') continue;
    // Wakes of one agent have one name in the account; whoever woke it has a line.
    const key = `${one.scheduleId} ${one.kind === 'wake' ? one.name : ''}`;
    const held = lines.get(key) ?? {
      key,
      scheduleId: one.scheduleId,
      agentId: one.agentId,
      name: whatText(one),
      kind: one.kind,
      done: 0,
      lastDone: null,
      troubles: [],
      ran: false,
      costMicroUsd: 0,
      estimated: false,
    };
    const same = ({ newest }: { readonly newest: Occurrence }) =>
      newest.state === one.state && newest.reason === one.reason;
    const troubles = held.troubles.some(same)
      ? held.troubles.map((trouble) => (same(trouble) ? { ...trouble, count: trouble.count + 1 } : trouble))
      : [...held.troubles, { newest: one, count: 1 }];
    lines.set(key, {
      ...held,
      done: held.done + (tone === 'good' && !isWhatFollowed(one) ? 1 : 0),
      // Words before none: those that followed.
      lastDone:
        tone === 'good' && (!held.lastDone || (isWhatFollowed(one) && !held.lastDone.said)) ? one : held.lastDone,
      troubles: tone === 'good' ? held.troubles : troubles,
      ran: held.ran || one.runId !== null,
      costMicroUsd: held.costMicroUsd + (one.costMicroUsd ?? 0),
      estimated: held.estimated || one.estimated,
    });
  }
  return [...lines.values()];
}

function GoOnButton({ run, runId }: { run: Occurrence; runId: RunId }) {
  const schedules = schedulesOf(useRoost());
  const mate = useTeammates().find(run.agentId);
  const [state, setState] = useState<'open' | 'asked' | 'begun'>('open');
  if (state === 'begun') return <small className="goes-on">{t`goes on`}</small>;
  const goOn = () => {
    if (state !== 'open') return;
    setState('asked');
    schedules.goOn(runId).then(
      (goes) => setState(goes ? 'begun' : 'open'),
      () => setState('open'),
    );
  };
  return (
    <button
      type="button"
      className="ghost go-on"
      aria-label={t`Let it go on: ${mate.name}, ${whatText(run)}`}
      disabled={state === 'asked'}
      onClick={goOn}
    >{t`Let it go on`}</button>
  );
}

/**
 * Lets an agent go on with a run that did not come to its end; says so where it did. Nothing for
 * any other.
 */
export function GoOn({ run }: { run: Occurrence }) {
  if (run.continuedBy !== null) return <small className="goes-on">{t`a later run went on with it`}</small>;
  return run.runId !== null && canGoOn(run) ? <GoOnButton key={run.runId} run={run} runId={run.runId} /> : null;
}

/**
 * Who did what, in their own last words, and what went wrong; each line leads to the agent, and to
 * its nights or its wakes.
 */
export function AccountList({ lines }: { lines: readonly AccountLine[] }) {
  const team = useTeammates();
  const now = useNow();
  return (
    <ul className="account" aria-label={t`What they did by themselves`}>
      {lines.map((line) => {
        const mate = team.find(line.agentId);
        const { lastDone } = line;
        return (
          <li key={line.key} className="tint" style={{ '--c': mate.color }}>
            <span className="account-face">
              <FaceOf agentId={mate.agentId} />
            </span>
            <div>
              <p className="account-head">
                <Link href={PATHS.agent(mate.agentId)} className="account-name">
                  <span dir="auto">{mate.name}</span>
                </Link>
                <Link href={line.kind === 'wake' ? PATHS.wakes(mate.agentId) : PATHS.night(mate.agentId)} dir="auto">
                  {line.name}
                </Link>
                {lastDone && (
                  <small>
                    {line.done > 1 && <span>{t`${line.done} times, last `}</span>}
                    <span>{momentText(lastDone.dueAt, now)}</span>
                  </small>
                )}
                {line.ran && <small>{line.costMicroUsd > 0 ? costText(line) : t`free`}</small>}
              </p>
              {lastDone !== null && lastDone.said !== null && lastDone.said !== '' && (
                <div className="account-said">
                  <Words text={lastDone.said} />
                </div>
              )}
              {line.troubles.map(({ newest, count }) => (
                <p key={outcomeText(newest)} className="account-trouble" data-tone={toneOf(newest)}>
                  <i className="tone-mark" aria-hidden="true" />
                  <Link href={PATHS.night(mate.agentId)}>
                    {count > 1 && <span>{`${count} × `}</span>}
                    <span>{outcomeText(newest)}</span>
                    <span>, </span>
                    <span>{momentText(newest.dueAt, now)}</span>
                  </Link>
                  {newest.detail !== null && toneOf(newest) === 'bad' && <span>{retold(newest.detail)}</span>}
                  <GoOn run={newest} />
                </p>
              ))}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
