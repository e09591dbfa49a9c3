/**
 * The model in use and its status: in the header where there is room, otherwise under the big
 * button.
 */
import { Link } from 'wouter';
import { lazy, Suspense, useState } from 'react';
import type { Connection, Models } from '../../../shared/protocol/models.ts';
import { t } from '../../language/t.ts';
import { clockTime } from '../text/time.ts';
import { useInfo, useLive, useRoost } from '../context.tsx';
import { CaretIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import { connectionName, modelName, stateText } from './names.ts';
import './chip.css';

const ModelPicker = lazy(() => import('./picker.tsx'));

/** Is the demo mind in use? The running session decides, otherwise the relay. */
export function useRehearsing(): boolean {
  const health = useInfo((state) => state.health?.mind);
  const running = useLive((state) => (state.live ? state.session?.mind.kind : undefined));
  return (running ?? health) === 'rehearsal';
}

interface ConnectedProps {
  readonly all: Models;
  readonly connection: Connection;
  readonly agentModel: string | undefined;
  /** Until when the relay was connected, in ms since the epoch; null: it is connected. */
  readonly heardUntil: number | null;
}

function Connected({ all, connection, agentModel, heardUntil }: ConnectedProps) {
  const [open, setOpen] = useState(false);
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
    <>
      <button
        type="button"
        className="model-chip"
        title={`${said}: ${stateText(connection)}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <span>{said}</span>
        {state.kind === 'answers' && (
          <b className="model-chip-good" role="img" aria-label={t`answers`}>
            ✓
          </b>
        )}
        <CaretIcon />
      </button>
      {open && (
        <Suspense fallback={null}>
          <ModelPicker all={all} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
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
  if (!first || state.kind !== 'ready') return null;
  return (
    <p className={`model-place model-place-${where}`} data-state={heardUntil === null ? first.state.kind : 'away'}>
      <Connected all={state.value} connection={first} agentModel={agentModel} heardUntil={heardUntil} />
    </p>
  );
}
