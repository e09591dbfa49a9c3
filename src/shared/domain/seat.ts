/**
 * The 3 × 3 grid of seats. Positions run 0–8, row by row. People count seats from 1 ("seat 1" is
 * position 0). Position 4, the centre, is always the lead's.
 */
import type { AgentId } from './ids.ts';

// Named groups of agents that the person wakes together. Each is its own `setting` document, so
// changes of different groups on two devices are both kept. The newest wins, and a group without
// agents was removed.

/** Maximum characters of a name, and maximum agents of a group: one per seat. */
export const GROUPS = { name: 40, agents: 8 } as const;

const PREFIX = 'group:';

export interface AgentGroup {
  readonly groupId: string;
  readonly name: string;
  /** Its members. Some may have been retired. */
  readonly agentIds: readonly AgentId[];
}

/** A group as a setting. */
export const groupSetting = ({ groupId, name, agentIds }: AgentGroup) => ({
  key: `${PREFIX}${groupId}`,
  value: { name, agentIds: [...agentIds] },
});

/**
 * Reads a group from a setting. Null: the setting is another one, or this version cannot use its
 * value.
 */
export function groupOf({ key, value }: { readonly key: string; readonly value: unknown }): AgentGroup | null {
  const groupId = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : '';
  if (groupId === '' || typeof value !== 'object' || value === null || !('name' in value && 'agentIds' in value))
    return null;
  const { name, agentIds } = value;
  if (typeof name !== 'string' || name.trim() === '' || name.length > GROUPS.name || !Array.isArray(agentIds))
    return null;
  const ids = agentIds.filter((id): id is AgentId => typeof id === 'string' && id !== '');
  return ids.length === agentIds.length && ids.length <= GROUPS.agents && new Set(ids).size === ids.length
    ? { groupId, name, agentIds: ids }
    : null;
}

export type Position = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

export const LEAD_POSITION = 4;
/** The lead's agent id. There is one lead, whichever device named it, so the id is a constant. */
export const LEAD_ID = 'lead';
export const LEAD_COLOR = { color: '#FFD600', colorName: 'Gold' } as const;

/** The order in which agents are seated. */
export const SEAT_ORDER = [0, 1, 2, 3, 5, 6, 7, 8] as const;
export type SeatPosition = (typeof SEAT_ORDER)[number];

interface SeatColor {
  readonly color: string;
  readonly colorName: string;
}

const COLORS: Record<SeatPosition, SeatColor> = {
  0: { color: '#c9b1e8', colorName: 'Violet Heaven' },
  1: { color: '#755d00', colorName: 'Ayahuasca Vine' },
  2: { color: '#00afd1', colorName: 'Aquarius' },
  3: { color: '#007e98', colorName: 'Pacific Pleasure' },
  5: { color: '#c85cb4', colorName: 'Barbiecore' },
  6: { color: '#da89c9', colorName: 'Pink Punk' },
  7: { color: '#B8DDE6', colorName: 'Salt Air' },
  8: { color: '#F2C4B0', colorName: 'Cloud Coral' },
};

export function seatColor(position: SeatPosition): SeatColor {
  return COLORS[position];
}

export function isSeatPosition(value: unknown): value is SeatPosition {
  return SEAT_ORDER.some((position) => position === value);
}

/** The seat number that people read: position + 1. */
export function seatNumber(position: number): number {
  return position + 1;
}
