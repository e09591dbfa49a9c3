/**
 * Changes what agents may do. Changes run one after the other, each on top of the relay's newest
 * version, and take effect at once.
 */
import { createQueue } from '../../shared/domain/platform/queue.ts';
import type { AgentConfig, EffectiveConfig, HouseholdConfig } from '../../shared/protocol/config.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { Query } from './query.ts';
import { overNewest } from './versioned.ts';

/** What a household and an agent have in common: only explicitly set values. */
export type Coordination = AgentConfig['coordination'];
export type Guardrails = NonNullable<Coordination['wake_guardrails']>;
export type EffectiveCoordination = EffectiveConfig['coordination'];

/** Undefined removes the own value, so that the inherited one holds. */
export const withCoordination = <K extends keyof Coordination>(
  own: Coordination,
  key: K,
  value: Coordination[K],
): Coordination => ({ ...own, [key]: value });

export const withGuardrails = (own: Coordination, values: Guardrails): Coordination => {
  const next = Object.entries({ ...own.wake_guardrails, ...values }).filter(([, value]) => value !== undefined);
  return { ...own, wake_guardrails: next.length === 0 ? undefined : Object.fromEntries(next) };
};

/** What was set, and what holds with every default filled in. */
interface ConfigAnswer<Own> {
  readonly own: Own;
  readonly effective: EffectiveConfig;
  readonly version: number;
}

export interface Limits<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  /** Resolves when the relay has it and the page shows the new state. */
  change(edit: (own: Own) => Own): Promise<RelayResult<null>>;
}

interface LimitsDeps<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  readonly read: () => Promise<RelayResult<ConfigAnswer<Own>>>;
  /** Refused as `changed-elsewhere` if another version than this one is set by now. */
  readonly put: (own: Own & { readonly version: number }) => Promise<RelayResult<ConfigAnswer<Own>>>;
}

export function createLimits<Own>({ query, read, put }: LimitsDeps<Own>): Limits<Own> {
  const inTurn = createQueue();
  return {
    query,
    change: (edit) =>
      inTurn(async () => {
        const shown = query.store.getState();
        // What the page knows goes out in the moment of the press: a person who leaves at once has
        // set it all the same.
        const known = shown.kind === 'ready' ? ({ ok: true, value: shown.value } as const) : await read();
        if (!known.ok) return known;
        // Of what somebody else has set since, only what this edit is about changes.
        const result = await overNewest(known.value, ({ own, version }) => put({ ...edit(own), version }));
        if ('clash' in result) throw new Error('An edit of limits is made over whatever is set.');
        if (!result.ok) return result;
        query.put(result.value);
        return { ok: true, value: null };
      }),
  };
}

export type AgentLimits = Limits<AgentConfig>;
export type HouseholdLimits = Limits<HouseholdConfig>;
