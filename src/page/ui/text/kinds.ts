/** Names of the kinds of documents. */
import { kindOf } from '../../../shared/protocol/documents/kinds.ts';
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

const wrongLine = (index: number) =>
  t`Line ${index + 1} of the variables is not NAME=value with a new name. A name has letters, digits and _, and does not begin with a digit.`;

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
        reason: wrongLine(index),
      };
    if (env.has(name)) return { ok: false, reason: wrongLine(index) };
    env.set(name, line.slice(at + 1).trim());
  }
  return { ok: true, env: Object.fromEntries(env) };
}

const NEWER = t`From a newer Roost`;

export const kindName = (type: string): string => translated(kindOf(type)?.name ?? NEWER);
