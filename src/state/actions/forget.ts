/** Letting go of an agent or of a conversation, and keeping it after all. */
import type { ForgetDoc } from '../../protocol/documents.ts';
import { attempt, type Done, type Parts } from './parts.ts';

export interface ForgetActions {
  /** Hidden at once, and can be taken back until its `finalAt`. Answers with what was written. */
  forget(
    target: ForgetDoc['target'],
  ): Promise<{ readonly ok: true; readonly asked: ForgetDoc } | Extract<Done, { ok: false }>>;
  /** Takes a `forget` back. */
  keep(forgetId: string): Promise<Done>;
  /** Takes what these cover out of every store that shows it. */
  letGo(forgets: readonly ForgetDoc[]): void;
}

export function createForgetActions({ owner, writer, household, conversations, unread }: Parts): ForgetActions {
  function letGo(forgets: readonly ForgetDoc[]) {
    household.take(forgets);
    conversations.conceal();
    for (const { target } of forgets) unread.drop(target.agentId);
  }
  return {
    letGo,
    async forget(target) {
      const asked = writer.forget(target);
      const written = await attempt(owner.call('append', [asked]));
      if (!written.ok) return written;
      letGo([asked]);
      return { ok: true, asked };
    },
    async keep(forgetId) {
      const undo = writer.forgetUndo(forgetId);
      const written = await attempt(owner.call('append', [undo]));
      // What comes back into sight with it is read again once the owner tells of it, as in every tab.
      if (written.ok) household.take([undo]);
      return written;
    },
  };
}
