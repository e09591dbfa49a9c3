/** What of one agent is left with the relay while no page is open, and by which version it is known there. */
import { createCrc32 } from '../domain/crc32.ts';
import { COPY_ORDER_CHARS } from '../domain/schedule/copy-order.ts';
import { isSeatPosition } from '../domain/seat.ts';
import type { AgentId } from '../domain/ids.ts';
import { spoken } from '../language/catalogue.ts';
import type { StandingCopy } from '../protocol/schedules.ts';
import type { Household, HouseholdState } from './household.ts';
import { humanNameOf, leadNameOf, speaking } from './people.ts';
import type { ReachPort } from './reach.ts';
import { payloadOf, type WakeShare } from './wake-share.ts';
import type { WakeSizes } from './wake-sizes.ts';

/**
 * Names what is in a copy: when something was said last that it knows, and another name where anything of it differs. One that
 * knows less never takes the place of one that knows more. The language is each page's own: by it two devices would leave theirs in
 * turns, so it goes along with what else is new.
 */
export function versionOf(copy: StandingCopy, lastSaid: number | null): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ ...copy, language: undefined }));
  const crc = createCrc32();
  crc.update(bytes);
  return `${String(lastSaid ?? 0).padStart(COPY_ORDER_CHARS, '0')}-${bytes.length}-${crc.value().toString(16)}`;
}
/** When something was said last that this version knows. */
export const timeOf = (version: string) => version.slice(0, COPY_ORDER_CHARS);

/** What an agent leaves, as the household is now and in the page's language; null: it has no seat to work from. */
export function copyOf(
  share: WakeShare,
  { roster, settings }: Pick<HouseholdState, 'roster' | 'settings'>,
  language: string,
): StandingCopy | null {
  const payload = payloadOf(share);
  if (!payload || !isSeatPosition(payload.position)) return null;
  const { name, color, colorName, position, soul, transcript } = payload;
  return {
    ...{ name, color, colorName, position, soul, transcript },
    human: humanNameOf(settings),
    ...speaking(language),
    lead: leadNameOf(roster, settings),
    model: share.agent.model || settings.agentModel,
    maxAnswerTokens: settings.maxAnswerTokens,
    contextTokens: settings.contextTokens,
  };
}

/** Compares what is left with what is here, and leaves what is newer, of those for whom something is scheduled. */
export async function leaveCopies({
  household,
  wakeSizes,
  reach,
  isStopped,
  onScheduled,
  onLeft,
}: {
  readonly household: Household;
  readonly wakeSizes: WakeSizes;
  readonly reach: ReachPort;
  readonly isStopped: () => boolean;
  /** Whether there is anybody for whom something is scheduled. */
  readonly onScheduled: (anybody: boolean) => void;
  readonly onLeft: (agentId: AgentId) => void;
}): Promise<void> {
  const [scheduled, standing] = await Promise.all([
    reach((client) => client.schedules({ agent: null })),
    reach((client) => client.standingCopies()),
  ]);
  // Asked again when the line is back.
  if (!scheduled.ok || !standing.ok) return;
  const { copies, takenBack } = standing.value;
  const wanted = new Set(
    scheduled.value.schedules
      .filter(({ schedule, elsewhere }) => elsewhere === null && (schedule.kind === 'reminder' || schedule.enabled))
      .map(({ schedule }) => schedule.agentId),
  );
  for (const agentId of takenBack) wanted.delete(agentId);
  onScheduled(wanted.size > 0);
  const left = new Map(copies.map(({ agentId, version }) => [agentId, version]));
  const agents = [...household.store.getState().roster.seats.values()].filter(({ agentId }) => wanted.has(agentId));
  for (const share of agents.length === 0 ? [] : await wakeSizes.read(agents)) {
    const copy = copyOf(share, household.store.getState(), spoken.language);
    if (!copy || isStopped()) continue;
    const version = versionOf(copy, share.lastSaid);
    const { agentId } = share.agent;
    const there = left.get(agentId) ?? '';
    if (there === version || timeOf(there) > timeOf(version)) continue;
    const done = await reach((client) => client.leaveStandingCopy({ agentId, body: { version, copy } }));
    if (done.ok) onLeft(agentId);
  }
}
