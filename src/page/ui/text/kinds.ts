/** Names of the kinds of documents. */
import { t, translated } from '../../language/t.ts';
import { kindOf } from '../../../shared/protocol/documents/kinds.ts';
import type { StorageStatus } from '../../../shared/protocol/worker.ts';

const NEWER = t`From a newer Roost`;

export const kindName = (type: string): string => translated(kindOf(type)?.name ?? NEWER);

export interface KindGroup {
  readonly name: string;
  readonly documents: number;
  /** UTF-16 units */
  readonly chars: number;
}

/** Groups kinds that are one to people; the largest first. */
export function kindGroups(kinds: StorageStatus['kinds']): KindGroup[] {
  const groups = new Map<string, KindGroup>();
  for (const { type, documents, chars } of kinds) {
    const name = kindName(type);
    const held = groups.get(name) ?? { name, documents: 0, chars: 0 };
    groups.set(name, { name, documents: held.documents + documents, chars: held.chars + chars });
  }
  return [...groups.values()].sort((a, b) => b.chars - a.chars);
}
