import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { Words } from '../chat/words.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../routes.ts';
import { costText } from '../text/money.ts';
import { useNow } from '../use-now.ts';
import { useTeammates } from '../use-teammates.ts';
import type { AccountLine } from './account.ts';
import { GoOn } from './go-on.tsx';
import { momentText, outcomeText, toneOf } from './words.ts';
import { retold } from '../../language/retold.ts';

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
