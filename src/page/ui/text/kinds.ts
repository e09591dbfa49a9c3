/** Names of the kinds of documents. */
import { kindOf } from '../../../shared/protocol/documents/kinds.ts';
import type { StorageStatus } from '../../../shared/protocol/worker.ts';
import { t, translated } from '../../language/t.ts';

type Variables =
  | { readonly ok: true; readonly env: Record<string, string> }
  | {
      readonly ok: false;
      /** A sentence. It names the line by number, since the line may contain a secret. */
      readonly reason: string;
    };

/** Valid names of environment variables. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `NAME=value`, one per line; empty lines are ignored. */
export function readVariables(text: string): Variables {
  const env = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const name = line.slice(0, Math.max(0, at)).trim();
    if (!NAME.test(name))
      return {
        ok: false,
        reason: t`Line ${index + 1} of the variables is not NAME=value. A name is of letters, digits and _, and begins with no digit.`,
      };
    if (env.has(name)) return { ok: false, reason: t`Line ${index + 1} of the variables says ${name} once more.` };
    env.set(name, line.slice(at + 1).trim());
  }
  return { ok: true, env: Object.fromEntries(env) };
}

const NEWER = t`From a newer Roost`;

export const kindName = (type: string): string => translated(kindOf(type)?.name ?? NEWER);

interface KindGroup {
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
