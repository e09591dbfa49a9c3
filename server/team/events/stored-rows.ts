/**
 * Rows of the log, read back. A row that does not fit its schema is mended where only what a model
 * said of itself is wrong in it; else it is set aside: one row must not keep a household from all
 * the others.
 */
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { parseJson } from '../../../src/shared/domain/platform/json.ts';
import { blockSchema, usageSchema } from '../../../src/shared/protocol/documents.ts';
import { eventSchema, type StoredEvent } from '../../../src/shared/protocol/events.ts';

export interface EventRow {
  readonly id: number;
  readonly event_json: string;
}

/** A row that is set aside. `why`: for whoever looks into it. */
export interface UnreadableRow {
  readonly id: number;
  readonly kind: string;
  readonly why: string;
}

/** Null: it is set aside. */
export type ReadRow = (row: EventRow) => StoredEvent | null;

const textOr = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise);
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);

/** A call of a tool lost its id or its name where its model gave none. */
function mendedBlock(block: unknown): unknown {
  if (!isRecord(block) || block['kind'] !== 'tool') return block;
  return {
    ...block,
    toolUseId: textOr(block['toolUseId'], 'unnamed'),
    name: textOr(block['name'], 'unnamed'),
    input: block['input'] ?? null,
    result: textOrNull(block['result']),
    isError: block['isError'] === true,
  };
}

/** Without what cannot be read of it: of its words, nothing is left out. */
function mended(event: Readonly<Record<string, unknown>>): unknown {
  const { usage, block, blocks, costMicroUsd: cost } = event;
  return {
    ...event,
    ...(usage !== undefined && !usageSchema.safeParse(usage).success ? { usage: null } : {}),
    ...(block === undefined ? {} : { block: mendedBlock(block) }),
    ...(Array.isArray(blocks)
      ? { blocks: blocks.map(mendedBlock).filter((each) => blockSchema.safeParse(each).success) }
      : {}),
    ...(cost !== undefined && !(Number.isSafeInteger(cost) && Number(cost) >= 0)
      ? { costMicroUsd: 0, estimated: true }
      : {}),
  };
}

/** `onUnreadable`: called once for each row that is set aside, however often it is read. */
export function createReadRow(onUnreadable: (row: UnreadableRow) => void = () => undefined): ReadRow {
  const told = new Set<number>();
  return ({ id, event_json: text }) => {
    const value = parseJson(text);
    const read = eventSchema.safeParse(value);
    if (read.success) return { id, event: read.data };
    const again = isRecord(value) ? eventSchema.safeParse(mended(value)) : read;
    if (again.success) return { id, event: again.data };
    if (!told.has(id)) {
      told.add(id);
      const kind = isRecord(value) ? textOr(value['kind'], 'none') : 'none';
      onUnreadable({ id, kind, why: value === undefined ? 'it is no JSON' : read.error.message });
    }
    return null;
  };
}
