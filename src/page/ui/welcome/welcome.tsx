import { seatColor, SEAT_ORDER } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { useDevices, useInfo } from '../context.tsx';
import { Egg } from '../grid/seat-figure.tsx';
import { Link } from 'wouter';
import { PATHS, useRoute } from '../routes.ts';
import { modelName } from '../models/names.ts';
import { Begin } from './begin.tsx';
import { EXAMPLES } from './examples.ts';
import { ComeBack } from './returning.tsx';
import { optional } from '../parts/part.tsx';
import './welcome.css';

/** For a device that has just joined, so not part of the first view. */
const OnItsWay = optional(() => import('./on-its-way.tsx'));

/** The page for moving in opens as soon as there is a team. */
function ThenMoveIn() {
  const { route, go } = useRoute();
  return (
    <label className="tick-line above-5">
      <input
        type="checkbox"
        checked={route.kind === 'move-in'}
        onChange={({ target }) => go(target.checked ? PATHS.moveIn : PATHS.hearth, { replace: true })}
      />
      {t`Import your conversations from ChatGPT and others`}
    </label>
  );
}

/**
 * The first visit: a new beginning, ways to bring an existing team, and the truth about which mind
 * answers. `onBegun`: the beginning is stored, and the team's page takes over.
 */
export default function WelcomePage({ onBegun }: { onBegun: () => void }) {
  const health = useInfo((state) => state.health);
  const onItsWay = useDevices(({ status }) => status?.kind === 'shared');
  return (
    <main className="welcome shrinks both-centred scroll stack" id="main">
      <div className="welcome-card">
        <div className="welcome-eggs flex apart" aria-hidden="true">
          {SEAT_ORDER.map((position) => (
            <span className="size-l" key={position}>
              <Egg position={position} color={seatColor(position).color} crack={0} />
            </span>
          ))}
        </div>
        {onItsWay ? (
          <OnItsWay />
        ) : (
          <>
            <h1 className="balanced">{t`A home for a team that remembers`}</h1>
            <p className="welcome-lead above-5 pretty ink-2">{t`Eight agents research, write, code in a sandbox and keep routines for you. They remember, and ask before anything leaves their folder.`}</p>
            <ul className="welcome-examples above-6 no-pad stack gap-3 ink-2" aria-label={t`Ask them, for example`}>
              {EXAMPLES.map((example) => (
                <li className="from-6" key={example}>{t`“${example}”`}</li>
              ))}
            </ul>
            <Begin onBegun={onBegun} beside={false} />
            <ThenMoveIn />
            <ComeBack />
          </>
        )}
        <p
          className={`above-6 pad-wide text-2 round ${health?.mind === 'rehearsal' ? 'warn-box warn' : 'panel framed'}`}
        >
          <span>
            {health === null
              ? t`Loading…`
              : health.mind === 'rehearsal'
                ? t`You’re in the demo. Its answers are scripted.`
                : t`Connected: ${modelName(health.model)}`}
          </span>{' '}
          {health?.mind === 'rehearsal' && <Link className="warn" href={PATHS.connect}>{t`Connect a model`}</Link>}
        </p>
      </div>
    </main>
  );
}
