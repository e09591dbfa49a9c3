/** All actions of the person, in one object. */
import { errorText } from '../ports.ts';
import { t } from '../../language/t.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import type { HouseholdLimits } from '../relay-info.ts';
import { problemText } from '../ports.ts';
import { createHomeActions, type HomeActions } from './home.ts';
import { createTalkActions, type TalkActions } from './talk.ts';
import { createTeamActions, type TeamActions } from './team.ts';
import { attempt, type Done, type Parts } from './parts.ts';

/** Forgets an agent or a conversation, and undoes that. */
interface ForgetActions {
  /**
   * Hides it at once. It can be undone until its `finalAt`. Returns the documents that were
   * written.
   */
  forget(
    target: ForgetDoc['target'],
  ): Promise<{ readonly ok: true; readonly asked: ForgetDoc } | Extract<Done, { ok: false }>>;
  /** Undoes a `forget`. */
  keep(forgetId: string): Promise<Done>;
  /** Removes what these cover from every store that shows it. */
  letGo(forgets: readonly ForgetDoc[]): void;
}

function createForgetActions({ owner, writer, household, conversations, unread }: Parts): ForgetActions {
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
      // What becomes visible again is read once the data worker announces it, as in every tab.
      if (written.ok) household.take([undo]);
      return written;
    },
  };
}

/** Maintenance of the ledger. */
interface UpkeepActions {
  /**
   * Checks every volume and rebuilds the views. Does nothing while this tab is already rebuilding.
   */
  rebuild(): Promise<void>;
}

function createUpkeepActions({ owner, upkeep }: Parts): UpkeepActions {
  return {
    async rebuild() {
      if (upkeep.getState().rebuild.kind === 'running') return;
      upkeep.setState({ rebuild: { kind: 'running' } });
      try {
        upkeep.setState({ rebuild: { kind: 'done', report: await owner.call('rebuild') } });
      } catch (error) {
        // Shown next to the button.
        upkeep.setState({
          rebuild: { kind: 'failed', reason: errorText(error) },
        });
      }
    },
  };
}

/** The household's switch that stops all wakes but the person's own. */
interface WakeActions {
  /**
   * Takes effect at once, for all agents. Resolves when the relay has it. If the relay refuses, a
   * notice says so.
   */
  stopWakes(stopped: boolean): Promise<void>;
}

function createWakeActions({
  notices,
  limits,
}: Pick<Parts, 'notices'> & { readonly limits: HouseholdLimits }): WakeActions {
  return {
    async stopWakes(stopped) {
      const put = await limits.change((own) => ({ ...own, wakes_enabled: !stopped }));
      if (!put.ok)
        notices.error(
          stopped
            ? t`Wakes could not be stopped: ${problemText(put.problem)}`
            : t`Wakes could not be allowed again: ${problemText(put.problem)}`,
        );
    },
  };
}

export type Actions = HomeActions & TeamActions & TalkActions & ForgetActions & UpkeepActions & WakeActions;

export const createActions = (parts: Parts, limits: Parameters<typeof createWakeActions>[0]['limits']): Actions => ({
  ...createHomeActions(parts),
  ...createForgetActions(parts),
  ...createUpkeepActions(parts),
  ...createTeamActions(parts),
  ...createTalkActions(parts),
  ...createWakeActions({ notices: parts.notices, limits }),
});
