/** What of one agent is left with the relay while no page is open, and by which version it is known there. */
import { createCrc32 } from '../domain/crc32.ts';
import { COPY_ORDER_CHARS } from '../domain/schedule/copy-order.ts';
import { isSeatPosition } from '../domain/seat.ts';
import type { StandingCopy } from '../protocol/schedules.ts';
import type { HouseholdState } from './household.ts';
import { humanNameOf, leadNameOf, speaking } from './people.ts';
import { payloadOf, type WakeShare } from './wake-share.ts';

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
