import { useState } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { CloseIcon } from '../parts/icons.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { costText } from '../text/money.ts';
import { names } from '../text/sizes.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';
import { accountOf, idleIn } from './account.ts';
import { AccountList } from './account-list.tsx';
import { useOpenedAt } from './use-opened-at.ts';
import { Waits } from './waits.tsx';
import './morning.css';

const HOUR = 3_600_000;
/** Hours that the relay tells of at once. */
const MOST_HOURS = 168;

/**
 * What happened since the person was last here: there once, until it is closed on any device. Then it is opened `again` from
 * Wakes, as it was, with what came since.
 */
export default function Morning({ again }: { again: boolean }) {
  const state = useRoost();
  const actions = useActions();
  const { go } = useRoute();
  const team = useTeammates();
  const ready = useHousehold(({ status }) => status === 'ready');
  const { runsReadTo, runsReadFrom } = useHousehold(({ settings }) => settings);
  const [closed, setClosed] = useState(0);
  const opened = useOpenedAt();
  const since = Math.max(again ? runsReadFrom : Math.max(runsReadTo, closed), opened - MOST_HOURS * HOUR);
  const hours = Math.min(MOST_HOURS, Math.max(1, Math.ceil((opened - since) / HOUR) + 1));
  const timeline = useQuery(schedulesOf(state).timeline(hours));
  if (!ready || timeline.kind !== 'ready') return null;
  const { occurrences } = timeline.value;
  const lines = accountOf(occurrences, since, opened);
  if (lines.length === 0 && !again) return null;
  const cost = lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
  const estimated = lines.some((line) => line.estimated);
  const workers = team.among([...new Set(lines.filter(({ ran }) => ran).map(({ agentId }) => agentId))]);
  const who = names(workers.map(({ name }) => name));
  const spent = cost > 0 ? t`, for ${costText({ costMicroUsd: cost, estimated })} in all` : t`, which cost nothing`;
  const idle = idleIn(occurrences, since, opened);
  const close = () => {
    // Out of sight at once; where it could not be written it comes again.
    setClosed(opened);
    if (again) go(PATHS.hearth);
    void actions.saveSettings({ runsReadFrom: since, runsReadTo: opened }).then((done) => {
      if (!done.ok) return state.notices.error(t`This could not be put away for good: ${done.reason}`);
      state.notices.info(t`What was done while you were away is put away.`, {
        label: t`Undo`,
        run: () => {
          setClosed(0);
          void actions.saveSettings({ runsReadFrom, runsReadTo });
        },
      });
    });
  };
  return (
    <section className="morning" aria-label={t`While you were away`}>
      <header>
        <h2>{t`While you were away`}</h2>
        <button type="button" className="icon-button" aria-label={t`Put this away`} onClick={close}>
          <CloseIcon />
        </button>
      </header>
      {workers.length > 0 && (
        <p className="morning-sum">
          {workers.length === 1 ? t`${who} was at work${spent}.` : t`${who} were at work${spent}.`}
        </p>
      )}
      {lines.length === 0 ? (
        <p className="query-quiet">{t`Nothing to tell of the last 7 days.`}</p>
      ) : (
        <AccountList lines={lines} />
      )}
      {idle > 0 && (
        <p className="morning-sum">
          {idle === 1
            ? t`Once, nothing waited when they looked: no model was asked, and it cost nothing.`
            : t`${idle} times, nothing waited when they looked: no model was asked, and it cost nothing.`}
        </p>
      )}
      <Waits />
      <p>
        <Link href={PATHS.night()}>{t`All of it, under Night`}</Link>
      </p>
    </section>
  );
}
