/** The content and version of one agent's snapshot at the relay. */
import { createCrc32 } from '../../shared/domain/crc32.ts';
import { SNAPSHOT_ORDER_CHARS } from '../../shared/domain/schedule/snapshot-order.ts';
import { isSeatPosition, LEAD_COLOR, LEAD_ID, LEAD_POSITION } from '../../shared/domain/seat.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { spoken } from '../language/t.ts';
import type { AgentSnapshot } from '../../shared/protocol/snapshots.ts';
import { type Household, type HouseholdState, humanNameOf, leadNameOf, speaking } from './household.ts';
import type { CallRelay } from './call-relay.ts';
import { startSessionBody } from './wake-context.ts';
import { payloadOf, type WakeShare, type WakeSizes } from './wake-sizes.ts';

/**
 * Names the content of a snapshot: the time of its last message, then a checksum of everything
 * else. A snapshot that knows less never replaces one that knows more. The page's language is not
 * part of the version. Otherwise two devices with different languages would replace each other's
 * snapshots in turns.
 */
export function versionOf(snapshot: AgentSnapshot, lastSaid: number | null): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ ...snapshot, language: undefined }));
  const crc = createCrc32();
  crc.update(bytes);
  return `${String(lastSaid ?? 0).padStart(SNAPSHOT_ORDER_CHARS, '0')}-${bytes.length}-${crc.value().toString(16)}`;
}
/** The time of the last message that this version contains. */
export const timeOf = (version: string) => version.slice(0, SNAPSHOT_ORDER_CHARS);

/** The agent's current snapshot, in the page's language; null: it has no seat to work from. */
export function snapshotOf(
  share: WakeShare,
  { roster, settings }: Pick<HouseholdState, 'roster' | 'settings'>,
  language: string,
): AgentSnapshot | null {
  const { agent } = share;
  if (agent.agentId === LEAD_ID) return leadCopyOf(share, { roster, settings }, language);
  const payload = payloadOf(share);
  if (!payload || !isSeatPosition(payload.position)) return null;
  const { name, color, colorName, position, soul, transcript } = payload;
  return {
    ...{ name, color, colorName, position, soul, transcript },
    human: humanNameOf(settings),
    ...speaking(language),
    lead: leadNameOf(roster, settings),
    model: agent.model || settings.agentModel,
    maxAnswerTokens: settings.maxAnswerTokens,
    contextTokens: settings.contextTokens,
  };
}

/**
 * Compares the relay's snapshots with the current ones and stores newer ones, for agents with a
 * schedule or for all.
 */
export async function leaveCopies({
  household,
  wakeSizes,
  callRelay,
  isStopped,
  onScheduled,
  onLeft,
}: {
  readonly household: Household;
  readonly wakeSizes: WakeSizes;
  readonly callRelay: CallRelay;
  readonly isStopped: () => boolean;
  /** Whether any agent has a schedule. */
  readonly onScheduled: (anybody: boolean) => void;
  readonly onLeft: (agentId: AgentId) => void;
}): Promise<void> {
  const [scheduled, stored] = await Promise.all([
    callRelay((client) => client.schedules({ agent: null })),
    callRelay((client) => client.agentSnapshots()),
  ]);
  // Repeated on the next connection.
  if (!scheduled.ok || !stored.ok) return;
  const { snapshots, withdrawn, dreaming = [], everybody = false } = stored.value;
  const { roster } = household.store.getState();
  const seated = [...roster.seats.values(), ...(roster.lead ? [roster.lead] : [])];
  const scheduledIds = new Set(
    scheduled.value.schedules
      .filter(({ schedule, elsewhere }) => elsewhere === null && (schedule.kind === 'reminder' || schedule.enabled))
      .map(({ schedule }) => schedule.agentId),
  );
  for (const agentId of dreaming) scheduledIds.add(agentId);
  if (everybody) for (const { agentId } of seated) scheduledIds.add(agentId);
  for (const agentId of withdrawn) scheduledIds.delete(agentId);
  onScheduled(scheduledIds.size > 0);
  const forgetIds = household.store.getState().forgets.map(({ _id }) => _id);
  const storedVersions = new Map(snapshots.map(({ agentId, version }) => [agentId, version]));
  const agents = seated.filter(({ agentId }) => scheduledIds.has(agentId));
  for (const share of agents.length === 0 ? [] : await wakeSizes.read(agents)) {
    const snapshot = snapshotOf(share, household.store.getState(), spoken.language);
    if (!snapshot || isStopped()) continue;
    const version = versionOf(snapshot, share.lastSaid);
    const { agentId } = share.agent;
    const there = storedVersions.get(agentId) ?? '';
    if (there === version || timeOf(there) > timeOf(version)) continue;
    const done = await callRelay((client) =>
      client.storeAgentSnapshot({ agentId, body: { version, snapshot, forgets: forgetIds } }),
    );
    if (done.ok) onLeft(agentId);
  }
}

/**
 * The lead's snapshot includes the household's settings for a session: all that starting one takes.
 */
function leadCopyOf(
  share: WakeShare,
  { roster, settings }: Pick<HouseholdState, 'roster' | 'settings'>,
  language: string,
): AgentSnapshot {
  const { human, lead, settings: session } = startSessionBody(share, roster, settings, language);
  return {
    ...{ name: lead.name, ...LEAD_COLOR, position: LEAD_POSITION, soul: lead.soul, transcript: lead.transcript },
    human: human.name,
    ...speaking(language),
    lead: lead.name,
    model: settings.leadModel,
    maxAnswerTokens: settings.maxAnswerTokens,
    contextTokens: settings.contextTokens,
    ...(session === undefined ? {} : { session }),
  };
}
