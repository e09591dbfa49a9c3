/**
 * The model in use and its status: in the header where there is room, otherwise under the big
 * button.
 */
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { useInfo, useLive, useRoost } from '../context.tsx';
import { optional } from '../parts/part.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import './chip.css';

const Connected = optional(() => import('./connected.tsx'));

/** Is the demo mind in use? The running session decides, otherwise the relay. */
export function useRehearsing(): boolean {
  const health = useInfo((state) => state.health?.mind);
  const running = useLive((state) => (state.live ? state.session?.mind.kind : undefined));
  return (running ?? health) === 'rehearsal';
}

export function ModelChip({ where }: { where: 'header' | 'hearth' }) {
  const { models } = useRoost();
  const state = useQuery(models.query);
  const rehearsing = useRehearsing();
  const agentModel = useLive((live) => (live.live ? live.session?.mind.agentModel : undefined));
  const heardUntil = useLive((live) => live.heardUntil);
  const [first] = state.kind === 'ready' ? state.value.connections : [];
  if (!first && rehearsing)
    return (
      <p className={`pill warn-box warn fixed rehearsal-${where}`}>
        <span>{t`Demo: no model connected`}</span>
        <span className="rehearsal-dot" aria-hidden="true">
          ·
        </span>
        <Link href={PATHS.connect}>{t`Connect a model`}</Link>
      </p>
    );
  if (!first || state.kind !== 'ready') return null;
  return (
    <div
      className={`model-place narrow fixed model-place-${where}`}
      data-state={heardUntil === null ? first.state.kind : 'away'}
    >
      <Connected all={state.value} connection={first} agentModel={agentModel} heardUntil={heardUntil} />
    </div>
  );
}
