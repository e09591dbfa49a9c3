/** What holds where nothing is set, for parts that are tested without the store of settings. */
import { effectiveConfig as effectiveOf } from '../../src/shared/protocol/effective.ts';
import type { SleepEvent } from '../../src/shared/domain/guardrails.ts';
import {
  agentConfigSchema,
  householdConfigSchema,
  type AgentConfig,
  type EffectiveConfig,
} from '../../src/shared/protocol/config.ts';

export function effectiveConfig({ sleepEvents = [] }: { readonly sleepEvents?: readonly SleepEvent[] } = {}): {
  readonly own: AgentConfig;
  readonly effective: EffectiveConfig;
  readonly version: number;
} {
  const own = agentConfigSchema.parse({ coordination: { sleep_events: [...sleepEvents] } });
  return {
    own: agentConfigSchema.parse({}),
    effective: effectiveOf(householdConfigSchema.parse({}), own, 'UTC'),
    version: 0,
  };
}
