/** Changes to what agents may do: one after the other, each over the newest that the relay has, live at once. */
import type { AgentConfig, EffectiveConfig, HouseholdConfig } from '../protocol/config.ts';
import type { RelayResult } from '../relay/index.ts';
import type { Query } from './query.ts';

/** What a household and an agent both have: only what was set. */
export type Coordination = AgentConfig['coordination'];
export type Guardrails = NonNullable<Coordination['wake_guardrails']>;
export type EffectiveCoordination = EffectiveConfig['coordination'];

/** Undefined: nothing of its own, what it inherits holds. */
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
}

export interface Limits<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  /** Done when the relay has it and the page shows what holds now. */
  change(edit: (own: Own) => Own): Promise<RelayResult<null>>;
}

interface LimitsDeps<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  readonly read: () => Promise<RelayResult<ConfigAnswer<Own>>>;
  readonly put: (own: Own) => Promise<RelayResult<unknown>>;
}

export function createLimits<Own>({ query, read, put }: LimitsDeps<Own>): Limits<Own> {
  let before: Promise<unknown> = Promise.resolve();

  async function changeOnce(edit: (own: Own) => Own): Promise<RelayResult<null>> {
    // Read anew, and put back whole: what somebody else has set since stands as it is.
    const known = await read();
    if (!known.ok) return known;
    const result = await put(edit(known.value.own));
    if (!result.ok) return result;
    await query.again();
    return { ok: true, value: null };
  }

  return {
    query,
    change(edit) {
      const change = before.then(() => changeOnce(edit));
      before = change.catch(() => undefined);
      return change;
    },
  };
}

export type AgentLimits = Limits<AgentConfig>;
export type HouseholdLimits = Limits<HouseholdConfig>;
