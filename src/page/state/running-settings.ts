import type { Roster } from '../../shared/domain/agent.ts';
import type { SettingKey, Settings } from '../../shared/domain/settings.ts';
import type { RunningSettings } from '../../shared/protocol/http.ts';

const AT_ONCE = [
  ...(['leadModel', 'agentModel', 'maxAnswerTokens', 'contextTokens'] as const),
  ...(['wakeTimeoutMs', 'birthTimeoutMs', 'idleMs'] as const),
] satisfies readonly SettingKey[];
/** Settings that a running session takes. Other settings of a session apply from the next one. */
export const HOLDS_AT_ONCE: ReadonlySet<string> = new Set(AT_ONCE);

/** The settings that a session takes, also while it runs. An empty model: the relay's default. */
export function runningSettingsOf({ seats }: Roster, settings: Settings): RunningSettings {
  const own = [...seats.values()].filter(({ model }) => model !== '');
  const agentModels = Object.fromEntries(own.map(({ agentId, model }) => [agentId, model]));
  const taken = Object.fromEntries(AT_ONCE.map((key) => [key, settings[key]])) as Pick<
    Settings,
    (typeof AT_ONCE)[number]
  >;
  return {
    ...taken,
    ...(own.length === 0 ? {} : { agentModels }),
  };
}
