/**
 * The model in use and its status: in the header where there is room, otherwise under the big
 * button.
 */
import { Link } from 'wouter';
import type { Connection, ListedModel, Models } from '../../../shared/protocol/models.ts';
import { spoken, t } from '../../language/t.ts';
import { clockTime } from '../text/time.ts';
import { useInfo, useLive, useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import './chip.css';

// Names and states of connected models.

const LONGEST = 26;

/** "claude-sonnet-5-5" is Sonnet 5.5, "qwen3:8b" stays as it is. */
export function modelName(id: string, listed: readonly ListedModel[] = []): string {
  const claude = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{6,8})?$/.exec(id);
  if (claude) {
    const [, family = '', major = '', minor] = claude;
    return `${family.charAt(0).toUpperCase()}${family.slice(1)} ${minor === undefined ? major : `${major}.${minor}`}`;
  }
  const name = listed.find((each) => each.id === id)?.name ?? id;
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}

const PORTS: Readonly<Record<string, string>> = {
  '11434': t`Ollama`,
  '1234': t`LM Studio`,
  '8080': 'llama.cpp',
  '8000': 'vLLM',
};

/** The provider of the model. */
export function connectionName({ kind, address }: Pick<Connection, 'kind' | 'address'>): string {
  if (kind === 'claude' || address === null) return t`Claude`;
  const { host, hostname, port } = new URL(address);
  const local = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return (local ? PORTS[port] : undefined) ?? host;
}

/** ms in seconds, for people. */
export const secondsText = (ms: number) =>
  `${(Math.max(ms, 100) / 1_000).toLocaleString(spoken.locale, { maximumFractionDigits: 1 })} s`;

export const TALKS_ONLY = t`This model cannot use tools: agents can talk, and nothing else.`;

/** The state in a few words. */
export function stateText({ state }: Pick<Connection, 'state'>): string {
  switch (state.kind) {
    case 'untried':
      return t`not asked yet`;
    case 'answers':
      return t`answers, ${secondsText(state.ms)}`;
    case 'fails':
      switch (state.why) {
        case 'key':
          return t`key refused`;
        case 'credit':
          return t`out of credit`;
        case 'unreachable':
          return t`cannot be reached`;
        case 'no-model':
          return t`model not known`;
        case 'busy':
          return t`busy`;
        case 'other':
          return t`does not answer`;
      }
  }
}

/** Every model that can be chosen, by connection. */
export const choices = ({ connections }: Models) =>
  connections.map((connection) => ({
    connection,
    models:
      connection.models.length > 0 ? connection.models : [{ id: connection.agentModel, name: connection.agentModel }],
  }));

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
