/** The limits on screen, for the fields that show and change them. */
import { createContext, use } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Done } from '../../state/actions/parts.ts';
import { problemText } from '../../state/ports.ts';
import type { Coordination, EffectiveCoordination, Limits } from '../../state/relay-info.ts';
import { useTold } from '../settings/told.ts';

/** A configuration with limits, of the household or of an agent. */
interface Config {
  readonly coordination: Coordination;
}

export async function changeLimits<Own>(limits: Limits<Own>, edit: (own: Own) => Own): Promise<Done> {
  const result = await limits.change(edit);
  return result.ok ? { ok: true } : { ok: false, reason: problemText(result.problem) };
}

export const changeCoordination = <Own extends Config>(
  limits: Limits<Own>,
  edit: (own: Coordination) => Coordination,
) => changeLimits(limits, (own) => ({ ...own, coordination: edit(own.coordination) }));

export interface Shown {
  /** Null: the household's. */
  readonly agentId: AgentId | null;
  /** The settings of this scope alone. */
  readonly own: Coordination;
  readonly effective: EffectiveCoordination;
  change(edit: (own: Coordination) => Coordination): Promise<Done>;
}

export const ShownLimits = createContext<Shown | null>(null);

export function useLimits(): Shown {
  const shown = use(ShownLimits);
  if (!shown) throw new Error('This field stands outside of ShownLimits');
  return shown;
}

/** Changes these limits, and says so with an undo. */
export function useChangeLimits(): (label: string, edit: (own: Coordination) => Coordination) => Promise<void> {
  const { own, change } = useLimits();
  const told = useTold();
  return (label, edit) => told({ label, save: () => change(edit), undo: () => change(() => own) });
}
