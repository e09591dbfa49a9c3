/** What is left today of an agent's wake limits. */
import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import type { WakeStats } from '../../../shared/protocol/wakes.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { optional } from '../parts/part.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { UsedBar } from '../design/progress.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { clockTime } from '../text/time.ts';
import { useNames } from '../use-somebody.ts';
import { useNow } from '../hooks.ts';
import { leftText, stoppedText } from './words.ts';
import './budget.css';

const AgentWarning = optional(() => import('../schedule/agent-warning.tsx'));

/** ms between updates of what is left. */
const REFRESH_EVERY = 15_000;
/** ms between requests to the relay while a session of the agent runs, since its minutes count. */
const ASK_EVERY = 60_000;

/** ms after the end of a limit until it is requested again, and the longest wait. */
const AFTER = 500;
const LONGEST = 3_600_000;

/** `used` of `of`, as a bar with its numbers. */
function Used({ label, used, of, unit = '' }: { label: string; used: number; of: number; unit?: string }) {
  const part = of === 0 ? 1 : Math.min(1, used / of);
  return (
    <div className="used">
      <p className="flex apart gap-5">
        <span>{label}</span>
        <b className="nowrap figures ink">
          {t`${Math.floor(used)} of ${of}`}
          {unit}
        </b>
      </p>
      <UsedBar share={part} />
    </div>
  );
}

/** The relay is not connected, and its last answer is old. */
const awayText = (heardUntil: number) => t`The relay is away. As of ${clockTime(heardUntil)}:`;

/** When the next wake is possible, and what prevents it now. */
function nextText(
  { stoppedBy, nextWakeTime }: WakeStats,
  now: number,
): { readonly passes: boolean; readonly text: string } {
  if (stoppedBy === null) return { passes: true, text: t`Can be woken now.` };
  const left = nextWakeTime === null || nextWakeTime <= now ? '' : `, ${leftText(nextWakeTime, now)}`;
  return { passes: false, text: t`Cannot be woken now: ${stoppedText(stoppedBy)}${left}.` };
}

function Figures({ stats, agentId }: { stats: WakeStats; agentId: AgentId }) {
  const state = useRoost();
  const { device } = state;
  const query = wakeQueries(state).stats(agentId);
  const now = useNow(REFRESH_EVERY);
  const nameOf = useNames();
  const byId = useHousehold((household) => household.roster.byId);
  const heardUntil = useLive((state) => state.heardUntil);
  const { nextWakeTime, stoppedBy, running } = stats;
  useEffect(() => {
    if (stoppedBy === null || nextWakeTime === null) return;
    // The limit is over then, and the current state is requested.
    const wait = nextWakeTime - device.now();
    return wait > 0 ? device.after(Math.min(wait + AFTER, LONGEST), () => void query.again()) : undefined;
  }, [device, query, nextWakeTime, stoppedBy]);
  useEffect(
    () => (running > 0 ? device.after(ASK_EVERY, () => void query.again()) : undefined),
    [device, query, running, stats],
  );
  const next = nextText(stats, now);
  const wakesLeft = Math.max(0, stats.maxWakesPerDay - stats.wakesToday);
  const sources = Object.entries(stats.bySource).filter(([, count]) => count > 0);
  return (
    <>
      <p className="budget-next relative ink from-6" data-passes={heardUntil === null && next.passes}>
        {heardUntil === null ? next.text : awayText(heardUntil)}
      </p>
      <Used label={t`Wakes today · ${t`${wakesLeft} left`}`} used={stats.wakesToday} of={stats.maxWakesPerDay} />
      <Used
        label={t`Minutes today, without you`}
        used={stats.minutesToday}
        of={stats.maxDailySessionMinutes}
        unit={t` min`}
      />
      {sources.length > 0 && (
        <p className="ink-3 text-2">
          {t`Woken today by`}{' '}
          {sources
            .map(
              ([source, count]) =>
                `${source === 'person' ? t`you` : byId.has(source) ? nameOf(source) : source} (${count})`,
            )
            .join(', ')}
          .
        </p>
      )}
      {running > 0 && <p className="ink-3 text-2">{plural(running, 'run now', 'runs now')}</p>}
    </>
  );
}

/** What is left today of an agent's wake limits. */
export function Budget({ agentId, children }: { agentId: AgentId; children?: ReactNode }) {
  const scheduled = useHousehold(({ records }) => [...records.values()].some(({ type }) => type === 'schedule'));
  const query = wakeQueries(useRoost()).stats(agentId);
  return (
    <div className="budget stack gap-5 ink-2 text-3">
      <QueryView query={query}>{(stats) => <Figures stats={stats} agentId={agentId} />}</QueryView>
      {scheduled && <AgentWarning agentId={agentId} />}
      <p className="budget-links gap-5 flex wrap text-3">
        {children}
        <Link href={PATHS.limits(agentId)}>{t`Limits`}</Link>
        {agentId !== LEAD_ID && <Link href={PATHS.schedule(agentId)}>{t`Routines`}</Link>}
      </p>
    </div>
  );
}
