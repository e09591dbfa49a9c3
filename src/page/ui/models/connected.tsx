/** The connected model in the chip: its name, whether it answers, and the picker. */
import { Link } from 'wouter';
import { lazy, Suspense, useState } from 'react';
import type { Connection, Models } from '../../../shared/protocol/models.ts';
import { t } from '../../language/t.ts';
import { clockTime } from '../text/time.ts';
import { CaretIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { connectionName, modelName, stateText } from './names.ts';

const ModelPicker = lazy(() => import('./picker.tsx'));

interface ConnectedProps {
  readonly all: Models;
  readonly connection: Connection;
  readonly agentModel: string | undefined;
  /** Until when the relay was connected, in ms since the epoch; null: it is connected. */
  readonly heardUntil: number | null;
}

export default function Connected({ all, connection, agentModel, heardUntil }: ConnectedProps) {
  const [open, setOpen] = useState(false);
  const { state, connectionId } = connection;
  const name = connectionName(connection);
  const model = modelName(agentModel ?? connection.agentModel, connection.models);
  const modelLabel = name === 'Claude' || !model.startsWith(name) ? `${name} · ${model}` : model;
  if (heardUntil !== null)
    return (
      <Link
        href={PATHS.connect}
        className="model-chip pill lifts at-most-full unlined"
        title={t`As it was at ${clockTime(heardUntil)}: ${modelLabel}`}
      >
        <span className="clip">{modelLabel}</span>
      </Link>
    );
  if (state.kind === 'fails')
    return (
      <span className="model-chip pill at-most-full danger-box danger">
        <span className="clip">
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
        className="model-chip pill lifts at-most-full unlined"
        title={`${modelLabel}: ${stateText(connection)}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <span className="clip ellipsis">{modelLabel}</span>
        {state.kind === 'answers' && (
          <b className="good" role="img" aria-label={stateText(connection)}>
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
