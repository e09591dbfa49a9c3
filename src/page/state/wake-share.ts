/** What an agent takes along when it wakes; how it is made stands in `wake-material.ts`. */
import type { Agent } from '../../shared/domain/agent.ts';
import { asleepFrom, type SessionEnd } from '../../shared/domain/lifecycle.ts';
import { isSeatPosition } from '../../shared/domain/seat.ts';
import type { Transcript } from '../../shared/domain/transcript.ts';
import type { AgentPayload } from '../../shared/domain/wake-payload.ts';

/** What one agent takes along. */
export interface WakeShare {
  readonly agent: Agent;
  readonly transcript: Transcript | null;
  /** UTF-8 bytes */
  readonly soulBytes: number;
  readonly transcriptBytes: number;
  /** When the last thing was said that it remembers, or null. */
  readonly lastSaid: number | null;
  /** The session in which that was, or null. */
  readonly lastSession: string | null;
  /** How that ended, as the ledger has it, or null. */
  readonly ended: SessionEnd | null;
}

/** When it fell asleep, as a wake and a start tell it. */
export function sleepOf(
  lastSaid: number | null,
  ended: SessionEnd | null,
): { readonly asleepSince?: number; readonly sleptFrom?: number } {
  if (lastSaid === null) return {};
  const from = asleepFrom(lastSaid, ended);
  return { asleepSince: lastSaid, ...(from === null || from === lastSaid ? {} : { sleptFrom: from }) };
}

/** The payload of one agent, or null for somebody without a seat. */
export function payloadOf({ agent, transcript, lastSaid, ended }: WakeShare): AgentPayload | null {
  const { agentId: id, name, color, colorName, position, soul } = agent;
  if (!isSeatPosition(position)) return null;
  return {
    id,
    name,
    color,
    colorName,
    position,
    soul: soul === '' ? null : soul,
    transcript: transcript?.text ?? null,
    ...sleepOf(lastSaid, ended),
  };
}
