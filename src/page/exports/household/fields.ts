/**
 * Imports limits and prices in part: ticked fields are written as a change of the record that is
 * here. Pure.
 */
import type { Stamp } from '../../../shared/domain/stamp.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { SCHEMA_VERSION } from '../../../shared/protocol/documents/kinds.ts';
import { withFields } from '../../../shared/protocol/records.ts';
import type { ImportChange } from '../types.ts';

type Limit = Extract<ImportChange, { kind: 'limit' }>;

/** A record that is imported in part: its ticked limits or prices. */
interface Part {
  readonly of: Limit;
  readonly ticked: readonly Limit[];
}

/**
 * The ticked fields of each record of which some fields are ticked and others are not. The file's
 * documents are left out, and this device writes the ticked fields as a change of the record here.
 * `leaveOut`: agents of whom nothing is imported.
 */
export function partsTicked(
  changes: readonly ImportChange[],
  ticks: ReadonlySet<string>,
  leaveOut: ReadonlySet<string>,
): readonly Part[] {
  const byRecord = new Map<string, Limit[]>();
  for (const change of changes) {
    if (change.kind !== 'limit' || (change.agentId !== null && leaveOut.has(change.agentId))) continue;
    const key = `${change.record} ${change.recordId}`;
    byRecord.set(key, [...(byRecord.get(key) ?? []), change]);
  }
  return [...byRecord.values()].flatMap((fields) => {
    const [of] = fields;
    const ticked = fields.filter(({ tick }) => ticks.has(tick));
    const isPart = ticked.length < fields.length && (ticked.length > 0 || of?.rest !== undefined);
    return of && isPart ? [{ of, ticked }] : [];
  });
}

/** `records`: the current ones here. */
export function withParts(
  parts: readonly Part[],
  records: readonly Doc[],
  stamp: (after: string | null) => Stamp,
): Doc[] {
  return parts.map(({ of, ticked }) => {
    const { record: type, recordId, agentId, rest } = of;
    const record = records.find((doc) => doc.type === type && doc['recordId'] === recordId);
    const nothing = type === 'limits' ? { agentId, config: {} } : { prices: [] };
    const set = ticked.map(({ field, after }) => [field, after] as const);
    const value = withFields(type, record?.['value'] ?? rest ?? nothing, set);
    const at = stamp(record?.at ?? null);
    const whose = agentId === null ? {} : { agentId };
    return { _id: `${type}:${recordId}:${at}`, type, schema: SCHEMA_VERSION, at, recordId, ...whose, value };
  });
}
