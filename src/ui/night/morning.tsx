import { useState } from 'react';
import { Link } from 'wouter';
import { schedulesOf } from '../../state/schedules.ts';
import { useActions, useHousehold, useRoost, useUnread } from '../context.tsx';
import { CloseIcon } from '../parts/icons.tsx';
import { PATHS } from '../routes.ts';
import { costText } from '../text/money.ts';
import { names, plural } from '../text/sizes.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';
import { WaitingCount } from '../calls/waiting.tsx';
import { accountOf } from './account.ts';
import { AccountList } from './account-list.tsx';
import { useOpenedAt } from './use-opened-at.ts';
import './morning.css';

const HOUR = 3_600_000;
/** Hours that the relay tells of at once. */
const MOST_HOURS = 168;

/** What waits to be read: who has said something. */
function Waiting() {
  const counts = useUnread((state) => state.counts);
  const team = useTeammates();
  const unread = [...counts].filter(([, count]) => count > 0);
  if (unread.length === 0) return null;
  return (
    <p className="morning-waits">
      Waits for you:{' '}
      {unread.map(([agentId, count], i) => (
        <span key={agentId}>
          {i > 0 && ', '}
          <Link href={PATHS.agent(agentId)}>
            {plural(count, 'message')} from {team.find(agentId).name}
          </Link>
        </span>
      ))}
    </p>
  );
}

/** What happened since the person was last here: there once, until it is closed on any device. Then it stands under Night. */
export default function Morning() {
  const state = useRoost();
  const actions = useActions();
  const team = useTeammates();
  const ready = useHousehold(({ status }) => status === 'ready');
  const read = useHousehold(({ settings }) => settings.runsReadTo);
  const [closed, setClosed] = useState(0);
  const opened = useOpenedAt();
  const since = Math.max(read, closed, opened - MOST_HOURS * HOUR);
  const hours = Math.min(MOST_HOURS, Math.max(1, Math.ceil((opened - since) / HOUR) + 1));
  const timeline = useQuery(schedulesOf(state).timeline(hours));
  if (!ready || timeline.kind !== 'ready') return null;
  const lines = accountOf(timeline.value.occurrences, since, opened);
  if (lines.length === 0) return null;
  const cost = lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
  const estimated = lines.some((line) => line.estimated);
  const workers = team.among([...new Set(lines.filter(({ ran }) => ran).map(({ agentId }) => agentId))]);
  const close = () => {
    // Out of sight at once; where it could not be written it comes again.
    setClosed(opened);
    void actions.saveSetting('runsReadTo', opened).then((done) => {
      if (!done.ok) state.notices.error(`This could not be put away for good: ${done.reason}`);
    });
  };
  return (
    <section className="morning" aria-label="While you were away">
      <header>
        <h2>While you were away</h2>
        <button type="button" className="icon-button" aria-label="Put this away" onClick={close}>
          <CloseIcon />
        </button>
      </header>
      {workers.length > 0 && (
        <p className="morning-sum">
          {names(workers.map(({ name }) => name))} {workers.length === 1 ? 'was' : 'were'} at work
          {cost > 0 ? `, for ${costText({ costMicroUsd: cost, estimated })}` : ''}.
        </p>
      )}
      <AccountList lines={lines} />
      <Waiting />
      <WaitingCount />
      <p>
        <Link href={PATHS.night()}>All of it, under Night</Link>
      </p>
    </section>
  );
}
