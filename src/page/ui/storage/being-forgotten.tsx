import { useMemo } from 'react';
import { t } from '../../language/t.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { rosterOfDocs } from '../../state/household.ts';
import { leadNameOf } from '../../state/people.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { plural } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';

/** What is being forgotten, in words. */
const DAY = 24 * 60 * 60 * 1000;

/** `Lyra`, `The conversation with Lyra` */
const targetText = (target: ForgetDoc['target'], name: string): string =>
  target.kind === 'agent' ? name : t`The conversation with ${name}`;

/** `30 days left`, `1 day left`, `less than a day left` */
function daysLeft(finalAt: number, now: number): string {
  const days = Math.floor((finalAt - now) / DAY);
  return days < 1 ? t`less than a day left` : plural(days, 'day left', 'days left');
}

function Leaving({ forget, name, color, now }: { forget: ForgetDoc; name: string; color: string; now: number }) {
  const actions = useActions();
  const { notices } = useRoost();
  const what = targetText(forget.target, name);
  const keep = async () => {
    const kept = await actions.keep(forget._id);
    if (kept.ok) notices.info(`${what} ${forget.target.kind === 'agent' ? 'stays' : t`is kept`}.`);
    else notices.error(t`This could not be saved: ${kept.reason}`);
  };
  return (
    <li className="tint" style={{ '--c': color }}>
      <span className="leaving-what">
        <b dir="auto">{what}</b>
        <small>{t`${daysLeft(forget.finalAt, now)} · gone for good ${fullTime(forget.finalAt)}`}</small>
      </span>
      <button
        type="button"
        className="ghost"
        aria-label={t`Keep after all: ${what}`}
        onClick={() => void keep()}
      >{t`Keep after all`}</button>
    </li>
  );
}

/** What was asked to be forgotten and can still be kept. Nothing is drawn where there is none. */
export function BeingForgotten() {
  const { device } = useRoost();
  const all = useHousehold((state) => state.forgetting);
  const identities = useHousehold((state) => state.identities);
  const changes = useHousehold((state) => state.changes);
  const settings = useHousehold((state) => state.settings);
  const now = useNow();
  const everybody = useMemo(() => rosterOfDocs(identities.values(), changes.values()), [identities, changes]);
  const forgetting = all.filter((forget) => forget.finalAt > device.now());
  if (forgetting.length === 0) return null;
  return (
    <section className="store-block" aria-label={t`Being forgotten`}>
      <h3>{t`Being forgotten`}</h3>
      <p>{t`Out of sight, and not gone yet. Until its day, everything can be kept after all; after it, nothing brings it back.`}</p>
      <ul className="leaving">
        {forgetting.map((forget) => {
          const { agentId } = forget.target;
          const agent = everybody.byId.get(agentId);
          const name = agentId === LEAD_ID ? leadNameOf(everybody, settings) : (agent?.name ?? t`somebody`);
          return (
            <Leaving key={forget._id} forget={forget} name={name} color={agent?.color ?? 'currentColor'} now={now} />
          );
        })}
      </ul>
    </section>
  );
}
