/**
 * Changes to what agents may do: one after the other, each over the newest that the relay has, live
 * at once.
 */
import { createQueue } from '../../shared/domain/platform/queue.ts';
import type { AgentConfig, EffectiveConfig, HouseholdConfig } from '../../shared/protocol/config.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { isRefusedAs } from './ports.ts';
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

/** What was set, and what holds with every default filled in. `version` names what was set. */
interface ConfigAnswer<Own> {
  readonly own: Own;
  readonly effective: EffectiveConfig;
  readonly version: string;
}

export interface Limits<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  /** Done when the relay has it and the page shows what holds now. */
  change(edit: (own: Own) => Own): Promise<RelayResult<null>>;
}

interface LimitsDeps<Own> {
  readonly query: Query<ConfigAnswer<Own>>;
  readonly read: () => Promise<RelayResult<ConfigAnswer<Own>>>;
  /** Refused as `set-meanwhile` where something else was set than what `version` names. */
  readonly put: (own: Own & { readonly version: string }) => Promise<RelayResult<ConfigAnswer<Own>>>;
}

export function createLimits<Own>({ query, read, put }: LimitsDeps<Own>): Limits<Own> {
  const inTurn = createQueue();

  const changeOnce = async (edit: (own: Own) => Own, known: RelayResult<ConfigAnswer<Own>>) =>
    known.ok ? await put({ ...edit(known.value.own), version: known.value.version }) : known;

  return {
    query,
    change: (edit) =>
      inTurn(async () => {
        const shown = query.store.getState();
        // What the page knows goes out in the moment of the press: whoever leaves at once has set
        // it all the same.
        let result = await changeOnce(edit, shown.kind === 'ready' ? { ok: true, value: shown.value } : await read());
        // What somebody else has set since stands as it is.
        if (!result.ok && isRefusedAs(result.problem, 'set-meanwhile')) result = await changeOnce(edit, await read());
        if (!result.ok) return result;
        query.put(result.value);
        return { ok: true, value: null };
      }),
  };
}

export type AgentLimits = Limits<AgentConfig>;
export type HouseholdLimits = Limits<HouseholdConfig>;
