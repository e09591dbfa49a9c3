/**
 * The model in use and its status: in the header where there is room, otherwise under the big
 * button.
 */
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { clockTime } from '../text/time.ts';
import type { Connection } from '../../../shared/protocol/models.ts';
import { useInfo, useLive, useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import { connectionName, modelName, stateText } from './words.ts';
import './chip.css';

/** Is the demo mind in use? The running session decides, otherwise the relay. */
export function useRehearsing(): boolean {
  const health = useInfo((state) => state.health?.mind);
  const running = useLive((state) => (state.live ? state.session?.mind.kind : undefined));
  return (running ?? health) === 'rehearsal';
}

interface ConnectedProps {
  readonly connection: Connection;
  readonly agentModel: string | undefined;
  /** Until when the relay was connected, in ms since the epoch; null: it is connected. */
  readonly heardUntil: number | null;
}

function Connected({ connection, agentModel, heardUntil }: ConnectedProps) {
  const { state, connectionId } = connection;
  const name = connectionName(connection);
  const model = modelName(agentModel ?? connection.agentModel, connection.models);
  const said = name === 'Claude' || !model.startsWith(name) ? `${name} · ${model}` : model;
  if (heardUntil !== null)
    return (
      <Link href={PATHS.connect} className="model-chip" title={t`As it was at ${clockTime(heardUntil)}: ${said}`}>
        <span>{said}</span>
      </Link>
    );
  if (state.kind === 'fails')
    return (
      <span className="model-chip model-chip-fails">
        <span>
          <b>{name}</b>: {stateText(connection)}
        </span>
        <Link href={PATHS.connect}>
          {state.why === 'key' && connectionId !== 'environment' ? t`Change the key` : t`What to do`}
        </Link>
      </span>
    );
  return (
    <Link href={PATHS.connect} className="model-chip" title={`${said}: ${stateText(connection)}`}>
      <span>{said}</span>
      {state.kind === 'answers' && (
        <b className="model-chip-good" role="img" aria-label={t`answers`}>
          ✓
        </b>
      )}
    </Link>
  );
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
      <p className={`rehearsal rehearsal-${where}`}>
        <span>{t`Demo: no model connected`}</span>
        <span className="rehearsal-dot" aria-hidden="true">
          ·
        </span>
        <Link href={PATHS.connect}>{t`Connect a model`}</Link>
      </p>
    );
  if (!first) return null;
  return (
    <p className={`model-place model-place-${where}`} data-state={heardUntil === null ? first.state.kind : 'away'}>
      <Connected connection={first} agentModel={agentModel} heardUntil={heardUntil} />
    </p>
  );
}
