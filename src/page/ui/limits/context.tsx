/** Whose limits are on the screen, for the fields that show and change them. */
import { createContext, use } from 'react';
import { t } from '../../language/t.ts';
import type { AgentConfig, HouseholdConfig } from '../../../shared/protocol/config.ts';
import { problemText } from '../../state/ports.ts';
import type { Coordination, EffectiveCoordination, HouseholdLimits, AgentLimits } from '../../state/limits.ts';

export interface Shown {
  readonly scope: 'household' | 'agent';
  /** Only what was set here. */
  readonly own: Coordination;
  /** What holds. */
  readonly effective: EffectiveCoordination;
  /** What would hold if nothing were set here: the household's, or Roost's own. */
  readonly base: EffectiveCoordination;
  /** Null where it was taken, else why not. */
  change(edit: (own: Coordination) => Coordination): Promise<string | null>;
}

export const ShownLimits = createContext<Shown | null>(null);

export function useLimits(): Shown {
  const shown = use(ShownLimits);
  if (!shown) throw new Error('This field stands outside of ShownLimits');
  return shown;
}

/** Where what is not set here comes from. */
export const baseName = (scope: Shown['scope']): string => (scope === 'agent' ? t`the household’s` : t`the default`);
/** Where nothing was set here, as a sentence. */
export const inheritedText = (scope: Shown['scope']): string =>
  scope === 'agent' ? t`Default: as the household has it.` : t`Default.`;

export async function changeHousehold(
  limits: HouseholdLimits,
  edit: (own: HouseholdConfig) => HouseholdConfig,
): Promise<string | null> {
  const result = await limits.change(edit);
  return result.ok ? null : problemText(result.problem);
}

export async function changeAgent(
  limits: AgentLimits,
  edit: (own: AgentConfig) => AgentConfig,
): Promise<string | null> {
  const result = await limits.change(edit);
  return result.ok ? null : problemText(result.problem);
}

export async function changeCoordination(
  limits: HouseholdLimits | AgentLimits,
  edit: (own: Coordination) => Coordination,
): Promise<string | null> {
  // Both kinds have it under the same name; what else they have stays.
  const into = <Own extends { coordination: Coordination }>(own: Own): Own => ({
    ...own,
    coordination: edit(own.coordination),
  });
  const result = await limits.change(into);
  return result.ok ? null : problemText(result.problem);
}
