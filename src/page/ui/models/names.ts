/** Names and states of connected models. */
import type { Connection, ListedModel, Models } from '../../../shared/protocol/models.ts';
import { spoken, t } from '../../language/t.ts';

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
  '11434': 'Ollama',
  '1234': 'LM Studio',
  '8080': 'llama.cpp',
  '8000': 'vLLM',
};

/** The provider of the model. */
export function connectionName({ kind, address }: Pick<Connection, 'kind' | 'address'>): string {
  if (kind === 'claude' || address === null) return 'Claude';
  const { host, hostname, port } = new URL(address);
  const local = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return (local ? PORTS[port] : undefined) ?? host;
}

/** ms in seconds, for people. */
export const secondsText = (ms: number) =>
  `${(Math.max(ms, 100) / 1_000).toLocaleString(spoken.locale, { maximumFractionDigits: 1 })} s`;

export const TALKS_ONLY = t`This model cannot use tools. Agents can only talk.`;

/** The state in a few words. */
export function stateText({ state }: Pick<Connection, 'state'>): string {
  switch (state.kind) {
    case 'untried':
      return t`not tested`;
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
