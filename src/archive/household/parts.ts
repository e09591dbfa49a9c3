/**
 * A record of which the person wants some limits, or prices, and others not: its documents stay out, and what is ticked is written
 * as a change of what is here, by this device.
 */
import type { Stamp } from '../../domain/stamp.ts';
import type { Doc } from '../../protocol/documents.ts';
import { SCHEMA_VERSION } from '../../protocol/known.ts';
import type { ArchiveChange } from '../types.ts';
import { withFields } from './fields.ts';

type Limit = Extract<ArchiveChange, { kind: 'limit' }>;

/** The ticked ones of each record of which not all are. */
export function partsTicked(
  changes: readonly ArchiveChange[],
  ticks: ReadonlySet<string>,
): readonly (readonly [Limit, ...Limit[]])[] {
  const byRecord = new Map<string, Limit[]>();
  for (const change of changes) {
    if (change.kind !== 'limit') continue;
    const key = `${change.record} ${change.recordId}`;
    byRecord.set(key, [...(byRecord.get(key) ?? []), change]);
  }
  return [...byRecord.values()].flatMap((fields) => {
    const [first, ...more] = fields.filter(({ tick }) => ticks.has(tick));
    return first && more.length + 1 < fields.length ? [[first, ...more] as const] : [];
  });
}

/** `records`: as they hold here. */
export function withParts(
  parts: readonly (readonly [Limit, ...Limit[]])[],
  records: readonly Doc[],
  stamp: (after: string | null) => Stamp,
): Doc[] {
  return parts.map((fields) => {
    const [{ record: type, recordId, agentId }] = fields;
    const held = records.find((doc) => doc.type === type && doc['recordId'] === recordId);
    const nothing = type === 'limits' ? { agentId, config: {} } : { prices: [] };
    const set = fields.map(({ field, after }) => [field, after] as const);
    const value = withFields(type, held?.['value'] ?? nothing, set);
    const at = stamp(held?.at ?? null);
    const whose = agentId === null ? {} : { agentId };
    return { _id: `${type}:${recordId}:${at}`, type, schema: SCHEMA_VERSION, at, recordId, ...whose, value };
  });
}
